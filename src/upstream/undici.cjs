/**
 * The parts of undici that every call needs. The whole package also loads fetch, caches, mocks and a
 * WebSocket: 40 ms at each start, and 2.5 MB.
 */
exports.buildConnector = require('undici/lib/core/connect.js')
exports.Pool = require('undici/lib/dispatcher/pool.js')
