import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { ListenOptions } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { makeApp } from '../app.ts'
import type { Context } from '../context.ts'
import { handleContinue } from './body.ts'
import { meet } from './client-address.ts'
import { headersMax, refuseTunnel, refuseUnparsed } from './client-errors.ts'
import { closedDoor, door } from './request-guard.ts'
import { followCertificate, readCertificate } from './tls.ts'

/** The server of this process's app: HTTPS where there is a certificate. Throws an Error for the operator. */
export function makeServer(context: Context): Server {
  const { bounds, config } = context
  const options: ServerOptions = {
    maxHeaderSize: bounds.headerBytesMax,
    requestTimeout: bounds.requestReadMs,
    headersTimeout: Math.min(bounds.headerReadMs, bounds.requestReadMs),
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 75_000,
    // TCP's own, for clients that are gone without a word while their answer is thought of.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    // Who sends none gets an answer in its own format, and a row.
    requireHostHeader: false,
  }
  const listener = door(context, makeApp(context))
  const { tlsCert, tlsKey, trustedProxies = [] } = config
  const server =
    tlsCert === undefined || tlsKey === undefined
      ? plainServer(options, listener, trustedProxies)
      : secureServer(context, options, listener, { tlsCert, tlsKey })
  server.maxHeadersCount = headersMax
  server.maxConnections = bounds.connectionsMax
  server.on('drop', tellOfDrops(context))
  server.once('listening', () => {
    server.on('error', (error) => context.log.error({ cause: String(error) }, 'the port has failed'))
  })
  server.on('clientError', refuseUnparsed(context))
  server.on('connect', refuseTunnel(context))
  server.on('checkContinue', handleContinue(listener))
  server.on('checkExpectation', closedDoor(context, unknownExpectation))
  return server
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

const dropsToldMs = 10_000

function plainServer(
  options: ServerOptions,
  listener: RequestListener,
  trustedProxies: readonly string[],
): Server {
  const server = createServer(options, listener)
  server.on('connection', (socket) => meet(socket, trustedProxies))
  return server
}

function secureServer(
  { bounds, config, log }: Context,
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
  // Who does not get through the handshake has asked for nothing: no row, and no plain answer to what may be anything.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy())
  const following = followCertificate(server, files, certificate, log)
  server.once('close', () => clearInterval(following))
  return server
}

function tellOfDrops({ bounds, log }: Context): () => void {
  let dropped = 0
  let toldAt = Number.NEGATIVE_INFINITY
  return () => {
    dropped++
    const now = performance.now()
    if (now - toldAt < dropsToldMs) return
    toldAt = now
    log.warn(
      { dropped, connectionsMax: bounds.connectionsMax },
      'connections are dropped: as many are open as may be',
    )
  }
}

const unknownExpectation = () => 'Send no "expect" header, or "expect: 100-continue".'
