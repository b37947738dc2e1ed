import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import proxyaddr from 'proxy-addr'
import { isWithin } from '../address-blocks.ts'

/** The other end of a connection. */
interface Peer {
  /**
   * IPv4 where it is IPv4, also on an IPv6 socket. Empty: the connection had ended before we read its
   * address.
   */
  address: string
  /** The trusted proxies, when the peer is one of them: then we believe its `x-forwarded-*` headers. */
  proxies: readonly string[] | undefined
  /** The connection is TLS, or stays on this machine: no one between us can read it. */
  confidential: boolean
}

const peers = new WeakMap<Duplex, Peer>()

/**
 * Remember the peer of a new connection: a socket that has ended has no address. `trustedProxies`: CIDR
 * blocks.
 */
export function meet(socket: Duplex, trustedProxies: readonly string[]): void {
  const peer = peerOf(socket)
  if (peer.address !== '' && isWithin(peer.address, trustedProxies)) peer.proxies = trustedProxies
  peers.set(socket, peer)
}

/** The address of the connection. */
export function peerAddressOf(socket: Duplex): string {
  return known(socket).address
}

/**
 * The address of the client: behind trusted proxies the last hop of `x-forwarded-for` that is not one of
 * them, else the connection's. We do not read `forwarded` (RFC 7239): a proxy that writes one of the two
 * headers passes the other on as the client sent it.
 */
export function clientAddressOf(request: IncomingMessage): string {
  const { address, proxies } = known(request.socket)
  if (proxies === undefined) return address
  // Not proxyaddr.compile: it refuses `0.0.0.0/0`, and takes no hop with a port.
  const hops = proxyaddr.all(request, (hop, index) => index === 0 || isWithin(hopAddress(hop) ?? '', proxies))
  // A hop that is not an address breaks the chain: we cannot know which proxy wrote the hops before it.
  return (
    hops
      .slice(1)
      .map(hopAddress)
      .findLast((at) => at !== undefined) ?? address
  )
}

/** False: the request, its key included, crossed some network as plain text. */
export function cameSafely({ socket, headers }: IncomingMessage): boolean {
  const { proxies, confidential } = known(socket)
  const schemes = proxies === undefined ? [] : valuesOf(headers['x-forwarded-proto'])
  return schemes.length === 0 ? confidential : schemes.every((scheme) => scheme.toLowerCase() === 'https')
}

/**
 * Scheme and host that the client called, without a slash at the end. Of several hosts or schemes we cannot
 * know which one the client used: the request's own host counts then, and plain HTTP.
 */
export function calledOrigin(request: IncomingMessage): string {
  const { socket, headers } = request
  const { proxies } = known(socket)
  const direct = isEncrypted(socket) ? 'https' : 'http'
  const host = headers.host ?? 'localhost'
  if (proxies === undefined) return `${direct}://${withoutEmptyPort(host)}`
  const [scheme, ...otherSchemes] = valuesOf(headers['x-forwarded-proto'])
  const [forwardedHost, ...otherHosts] = valuesOf(headers['x-forwarded-host'])
  const isOne = forwardedHost !== undefined && otherHosts.length === 0 && hostSyntax.test(forwardedHost)
  const isHttps =
    scheme === undefined ? direct === 'https' : otherSchemes.length === 0 && /^https$/i.test(scheme)
  return `${isHttps ? 'https' : 'http'}://${withoutEmptyPort(isOne ? forwardedHost : host)}`
}

const withoutEmptyPort = (host: string) => host.replace(/:$/, '')

/**
 * https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2, without the escapes that no client sends. The port
 * may be empty.
 */
export const hostSyntax = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{0,5})?$/i

function known(socket: Duplex): Peer {
  return peers.get(socket) ?? peerOf(socket)
}

function peerOf(socket: Duplex): Peer {
  const address = plainAddress(socket instanceof Socket ? (socket.remoteAddress ?? '') : '')
  const confidential = isEncrypted(socket) || (address !== '' && ipaddr.parse(address).range() === 'loopback')
  return { address, proxies: undefined, confidential }
}

export function isEncrypted(socket: Duplex): boolean {
  return socket instanceof TLSSocket
}

/**
 * An IPv4-mapped address (`::ffff:192.0.2.1`) becomes IPv4, and an address loses its zone (`%eth0`). Empty:
 * no address.
 */
function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '')
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : ''
}

/**
 * The values of a list header, first hop first, without empty ones. Hand-written: proxy-addr reads
 * `x-forwarded-for` only.
 */
function valuesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  return text.split(',').flatMap((value) => value.trim() || [])
}

/** The address in `192.0.2.1`, `192.0.2.1:1234`, `2001:db8::1` or `[2001:db8::1]:1234`. */
function hopAddress(hop: string): string | undefined {
  const text = hop.trim()
  const inBrackets = /^\[([^\]]*)\](:\d+)?$/.exec(text)?.[1]
  const address = inBrackets ?? text.replace(/^([\d.]+):\d+$/, '$1')
  // ipaddr.js reads plain numbers as addresses too.
  if (!/[.:]/.test(address)) return undefined
  return plainAddress(address) || undefined
}
