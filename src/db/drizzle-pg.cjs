/**
 * drizzle for `pg`, loaded from its CommonJS files: see drizzle.cjs. It is separate because most starts do
 * not need `pg`.
 */
module.exports = require('drizzle-orm/node-postgres')
