import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { ListenOptions } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Bounds, Config } from '../config/config.ts'
import { http } from '../runtime/node-http.ts'
import type { Log } from '../telemetry/log.ts'
import { handleContinue } from './body.ts'
import { meet } from './client-address.ts'
import { headersMax, refuseTunnel, refuseUnparsed } from './client-errors.ts'
import type { Intake } from './intake.ts'
import { refuseExpectation, requestGuard } from './request-guard.ts'
import { followCertificate, readCertificate } from './tls.ts'
import { handleUpgrade } from './upgrade.ts'

/** The parts of a process that the server needs. */
export interface ServerContext {
  bounds: Bounds
  config: Pick<Config, 'plainHttp' | 'tlsCert' | 'tlsKey' | 'trustedProxies'>
  log: Log
}

/**
 * Creates the server of this process, which uses HTTPS when a certificate is configured. `upgrades` says
 * whether a request may switch to another protocol. Throws an Error for the operator.
 */
export function makeServer(
  context: ServerContext,
  intake: Intake,
  upgrades: (request: IncomingMessage) => boolean = () => false,
): Server {
  const { bounds, config, log } = context
  const refuser = { intake, bounds, log }
  const options: ServerOptions = {
    maxHeaderSize: bounds.headerBytesMax,
    requestTimeout: bounds.requestReadMs,
    headersTimeout: Math.min(bounds.headerReadMs, bounds.requestReadMs),
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 75_000,
    // TCP keep-alive detects clients that vanish without closing the connection while the upstream is
    // working.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    // The request guard refuses a request without a host in the client's format, with a row.
    requireHostHeader: false,
    shouldUpgradeCallback: upgrades,
  }
  const listener = alone(log, requestGuard(intake, config.plainHttp === 'allow'))
  const { tlsCert, tlsKey, trustedProxies = [] } = config
  const server =
    tlsCert === undefined || tlsKey === undefined
      ? plainServer(options, listener, trustedProxies)
      : secureServer(context, options, listener, { tlsCert, tlsKey })
  server.maxHeadersCount = headersMax
  server.maxConnections = bounds.connectionsMax
  server.on('drop', logDrops(context))
  server.once('listening', () => {
    server.on('error', (error) => log.error({ cause: String(error) }, 'the server socket failed'))
  })
  server.on('clientError', refuseUnparsed(refuser))
  server.on('connect', refuseTunnel(refuser))
  server.on('checkContinue', handleContinue(listener))
  server.on('upgrade', handleUpgrade(listener))
  server.on('checkExpectation', alone(log, refuseExpectation(intake)))
  return server
}

/**
 * Wraps a listener so that an error in it ends only its request. Such an error is a bug, and its request has
 * no row.
 */
function alone(log: Log, listener: RequestListener): RequestListener {
  return (request, response) => {
    try {
      listener(request, response)
    } catch (cause) {
      log.error({ cause: String(cause) }, 'could not begin a request')
      response.destroy()
    }
  }
}

/** Rejects with an Error for the operator. */
export function listen(server: Server, options: ListenOptions & { port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${options.port} is taken by another program. Set PORT to a free one.`)
          : error,
      )
    }
    server.once('error', refused)
    server.listen(options, () => {
      server.removeListener('error', refused)
      resolve()
    })
  })
}

const dropLogIntervalMs = 10_000

function plainServer(
  options: ServerOptions,
  listener: RequestListener,
  trustedProxies: readonly string[],
): Server {
  const server = http.createServer(options, listener)
  server.on('connection', (socket) => meet(socket, trustedProxies))
  return server
}

function secureServer(
  { bounds, config, log }: ServerContext,
  options: ServerOptions,
  listener: RequestListener,
  files: { tlsCert: string; tlsKey: string },
): Server {
  const certificate = readCertificate(files)
  const server = createSecureServer(
    {
      ...options,
      ...certificate,
      minVersion: 'TLSv1.2',
      handshakeTimeout: bounds.headerReadMs,
    },
    listener,
  )
  server.on('secureConnection', (socket) => meet(socket, config.trustedProxies ?? []))
  // A failed handshake is not a request, so it has no row. Its bytes may be anything, so no plain-text answer
  // is sent.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy())
  const following = followCertificate(server, files, certificate, log)
  server.once('close', () => clearInterval(following))
  return server
}

function logDrops({ bounds, log }: ServerContext): () => void {
  let dropped = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return () => {
    dropped++
    const now = performance.now()
    if (now - loggedAt < dropLogIntervalMs) return
    loggedAt = now
    log.warn(
      { dropped, connectionsMax: bounds.connectionsMax },
      'dropping connections: the maximum number of open connections is reached',
    )
  }
}
