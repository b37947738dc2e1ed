/** drizzle over `pg`, by its CommonJS files: see drizzle.cjs. Apart from it, because most starts need no `pg`. */
module.exports = require('drizzle-orm/node-postgres')
