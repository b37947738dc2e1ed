/** The errors of drizzle, without the rest of it: see drizzle.cjs. Commands need them before they need drizzle. */
exports.DrizzleQueryError = require('drizzle-orm/errors').DrizzleQueryError
