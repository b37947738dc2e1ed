import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { Pool } from 'undici'
import type { Connection } from '../catalog/connection.ts'
import type { Channel } from '../catalog/snapshot.ts'
import { checkHost, checkProxiedHost, guardedLookup, type Lookup } from './allowed-addresses.ts'
import { connector, proxiedConnector } from './connection.ts'

/** Connections to one origin, made in one way. */
export interface OriginConnections {
  pool: Pool
  /**
   * Begins every path: the path of the base URL without a trailing slash; the origin too, where the proxy
   * reads the path.
   */
  path: string
  /** For the proxy that reads the request: names and values in turn. */
  headers: readonly string[]
  isProxied: boolean
  /**
   * Makes a connection to the origin itself for a WebSocket: through a proxy by a tunnel, whatever its
   * protocol.
   */
  connect: Connect
  /** Of the server: `http` or `https`, host and port. */
  origin: string
}

interface PlaceOptions {
  allowed: Channel['allowPrivateAddress']
  connection: Connection | undefined
  connectMs: number
  lookup: Lookup | undefined
}

const keepAliveMs = 30_000
/** We refuse an answer with larger headers. */
export const answerHeadBytesMax = 64 * 1024

/** A place whose base URL is served by this process itself, on another origin. */
export function openOwnPlace(
  baseUrl: string,
  origin: string,
  options: Pick<PlaceOptions, 'connectMs'>,
): OriginConnections {
  const { pathname } = new URL(baseUrl)
  const lookup = guardedLookup(true)
  return directPlace(origin, pathname, connector({ timeout: options.connectMs, lookup }))
}

/** Throws an Error for a host that the channel may not call. */
export function openPlace(
  baseUrl: string,
  { allowed, connection, connectMs, lookup }: PlaceOptions,
): OriginConnections {
  const url = new URL(baseUrl)
  const secureContext = secureContextOf(connection)
  const proxy = connection?.proxy
  if (proxy === undefined) {
    checkHost(url.hostname, allowed)
    const connect = connector({ timeout: connectMs, lookup: guardedLookup(allowed, lookup), secureContext })
    return directPlace(url.origin, url.pathname, connect)
  }
  checkProxiedHost(url.hostname, allowed)
  // A proxy that the operator names may be private, but never a metadata service.
  const allowedProxy = proxy.allowed ?? true
  checkHost(proxy.hostname, allowedProxy)
  const ways = { timeout: connectMs, lookup: guardedLookup(allowedProxy, lookup), secureContext }
  const path = withoutSlash(url.pathname)
  // https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2: without TLS, the proxy reads the request itself.
  const isRead = url.protocol === 'http:'
  const { authorization } = proxy
  return {
    pool: poolOf(url.origin, proxiedConnector(proxy, ways)),
    connect: proxiedConnector(proxy, { ...ways, tunnelsAll: true }),
    origin: url.origin,
    path: isRead ? url.origin + path : path,
    headers: isRead && authorization !== undefined ? ['proxy-authorization', authorization] : [],
    isProxied: true,
  }
}

type Connect = ReturnType<typeof connector>

function directPlace(origin: string, pathname: string, connect: Connect): OriginConnections {
  const path = withoutSlash(pathname)
  return { pool: poolOf(origin, connect), path, headers: [], isProxied: false, connect, origin }
}

function poolOf(origin: string, connect: Connect): Pool {
  return new Pool(origin, {
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    allowH2: false,
    maxHeaderSize: answerHeadBytesMax,
    connect,
  })
}

/** Made once for all connections of a place, because it takes milliseconds; undefined: Node's own. */
function secureContextOf(connection: Connection | undefined): SecureContext | undefined {
  const { ca, cert, key } = connection ?? {}
  if (ca === undefined && cert === undefined) return undefined
  return createSecureContext({
    ...(ca !== undefined && { ca: [...getCACertificates('default'), ca] }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  })
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '')
}
