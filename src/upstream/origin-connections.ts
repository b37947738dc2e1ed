import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import type { Connection } from '../catalog/channel-connection.ts'
import type { Channel } from '../catalog/snapshot.ts'
import { checkHost, checkProxiedHost, guardedLookup, type Lookup } from './allowed-addresses.ts'
import { connector, proxiedConnector } from './connectors.ts'
import { Pool } from './undici.cjs'

/** The connections to one origin with the same settings. */
export interface OriginConnections {
  pool: Pool
  /**
   * The prefix of every path: the path of the base URL without a trailing slash, preceded by the origin if
   * the proxy reads the path.
   */
  path: string
  /** Headers for a proxy that reads the request, as alternating names and values. */
  headers: readonly string[]
  isProxied: boolean
  /**
   * Opens a connection to the origin itself for a WebSocket. Through a proxy it uses a tunnel, whatever its
   * protocol.
   */
  connect: Connect
  /** The complete base URL at the server itself, without a trailing slash. */
  base: string
}

interface PlaceOptions {
  allowed: Channel['allowPrivateAddress']
  connection: Connection | undefined
  connectMs: number
  lookup: Lookup | undefined
}

const keepAliveMs = 30_000
/** Responses with larger headers are refused. */
export const answerHeadBytesMax = 64 * 1024

/** Opens connections for a base URL that is served by this process itself, on another origin. */
export function openOwnPlace(
  baseUrl: string,
  origin: string,
  options: Pick<PlaceOptions, 'connectMs'>,
): OriginConnections {
  const { pathname } = new URL(baseUrl)
  const lookup = guardedLookup(true)
  return directPlace(origin, pathname, connector({ timeout: options.connectMs, lookup }))
}

/** Throws an Error for a host that the channel is not allowed to call. */
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
  // A proxy configured by the operator may be private, but never a metadata service.
  const allowedProxy = proxy.allowed ?? true
  checkHost(proxy.hostname, allowedProxy)
  const ways = { timeout: connectMs, lookup: guardedLookup(allowedProxy, lookup), secureContext }
  const path = withoutSlash(url.pathname)
  // Without TLS, the proxy reads the request itself: https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
  const isRead = url.protocol === 'http:'
  const { authorization } = proxy
  return {
    pool: poolOf(url.origin, proxiedConnector(proxy, ways)),
    connect: proxiedConnector(proxy, { ...ways, tunnelsAll: true }),
    base: url.origin + path,
    path: isRead ? url.origin + path : path,
    headers: isRead && authorization !== undefined ? ['proxy-authorization', authorization] : [],
    isProxied: true,
  }
}

type Connect = ReturnType<typeof connector>

function directPlace(origin: string, pathname: string, connect: Connect): OriginConnections {
  const path = withoutSlash(pathname)
  return { pool: poolOf(origin, connect), path, headers: [], isProxied: false, connect, base: origin + path }
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

/**
 * Created once for all connections of an origin, because it takes milliseconds. Undefined means Node's
 * default.
 */
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
