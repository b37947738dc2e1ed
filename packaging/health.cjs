// The HEALTHCHECK of the image. Exit code 0: the process works. A gateway answers at its port. A worker has only the port of metrics; one
// without that cannot be asked.
'use strict'
const { HOST, PORT, ROLE, METRICS_HOST, METRICS_PORT, TLS_CERT } = process.env
const isWorker = ROLE === 'worker'
const port = isWorker ? METRICS_PORT : PORT || '8787'
if (!port) process.exit(0)
const listensOn = (isWorker ? METRICS_HOST : HOST) || '127.0.0.1'
const host = ['0.0.0.0', '::'].includes(listensOn) ? '127.0.0.1' : listensOn
const { get } = require(TLS_CERT && !isWorker ? 'node:https' : 'node:http')
// The certificate is for the name that clients call, which is not this address.
get({ host, port, path: '/healthz', rejectUnauthorized: false }, ({ statusCode }) =>
  process.exit(statusCode === 200 ? 0 : 1),
).on('error', () => process.exit(1))
