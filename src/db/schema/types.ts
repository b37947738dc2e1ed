import { bigint, customType, text, timestamp } from '../drizzle.cjs'

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
export const nano = (name: string) => bigint(name, { mode: 'bigint' })
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

/**
 * Who manages a row. `file`: the row comes from gateway.yaml, and is disabled when it is removed from the
 * file.
 */
export const managedBy = () => text('managed_by', { enum: ['file', 'admin'] }).notNull()
