/**
 * drizzle, by its CommonJS files. It has a hundred ES modules, and for each of them Node reads drizzle's package.json of
 * 180 KB to see that it is one: half of the time of a start.
 */
module.exports = {
  ...require('drizzle-orm'),
  ...require('drizzle-orm/pg-core'),
  ...require('drizzle-orm/postgres-js'),
  ...require('drizzle-orm/postgres-js/migrator'),
}
