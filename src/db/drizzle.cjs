/**
 * drizzle, by its CommonJS files. For each of its hundred ES modules Node reads the whole of drizzle's package.json, 180 KB,
 * to learn that it is one: that was half of the time, and of the garbage, of a start.
 */
module.exports = {
  ...require('drizzle-orm'),
  ...require('drizzle-orm/pg-core'),
  ...require('drizzle-orm/postgres-js'),
  ...require('drizzle-orm/postgres-js/migrator'),
}
