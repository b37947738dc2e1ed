/**
 * node:http, loaded without an import: that would read all of its members, for one of which Node loads the
 * undici inside it, at each start.
 */
export const http = process.getBuiltinModule('node:http')
