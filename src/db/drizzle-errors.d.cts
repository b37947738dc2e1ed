export { DrizzleQueryError } from 'drizzle-orm/errors'
