// All tables, for drizzle and drizzle-kit.
export * from './schema/access.ts'
export * from './schema/catalog.ts'
export * from './schema/ledger.ts'
export * from './schema/operations.ts'
export * from './schema/state.ts'
