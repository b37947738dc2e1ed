/**
 * drizzle, loaded from its CommonJS files. As ES modules it has about a hundred files, and for each of them
 * Node parses drizzle's package.json of 180 KB to determine the module type, which takes half of the start-up
 * time.
 */
module.exports = {
  ...require('drizzle-orm'),
  ...require('drizzle-orm/pg-core'),
  ...require('drizzle-orm/postgres-js'),
  ...require('drizzle-orm/postgres-js/migrator'),
}
