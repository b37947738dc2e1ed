import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import proxyaddr from 'proxy-addr'
import { isWithin } from '../canonical/address-blocks.ts'

/** The other end of a connection. */
interface Peer {
  /**
   * IPv4 where possible, even on an IPv6 socket. Empty when the connection ended before its address was read.
   */
  address: string
  /**
   * The trusted proxies if the peer is one of them, in which case its `x-forwarded-*` headers are trusted.
   */
  proxies: readonly string[] | undefined
  /** The connection uses TLS or stays on this machine, so that no third party can read it. */
  confidential: boolean
}

const peers = new WeakMap<Duplex, Peer>()

/**
 * Records the peer of a new connection, because a socket that has ended has no address. `trustedProxies` is a
 * list of CIDR blocks.
 */
export function meet(socket: Duplex, trustedProxies: readonly string[]): void {
  const peer = peerOf(socket)
  if (peer.address !== '' && isWithin(peer.address, trustedProxies)) peer.proxies = trustedProxies
  peers.set(socket, peer)
}

/** Returns the address of the connection. */
export function peerAddressOf(socket: Duplex): string {
  return known(socket).address
}

/**
 * Returns the address of the client: behind trusted proxies, the last hop of `x-forwarded-for` that is not
 * one of them, otherwise the connection's. `forwarded` (RFC 7239) is ignored, because a proxy that writes one
 * of the two headers passes the other on as the client sent it.
 */
export function clientAddressOf(request: IncomingMessage): string {
  const { address, proxies } = known(request.socket)
  if (proxies === undefined) return address
  // proxyaddr.compile refuses `0.0.0.0/0` and accepts no hop with a port.
  const hops = proxyaddr.all(request, (hop, index) => index === 0 || isWithin(hopAddress(hop) ?? '', proxies))
  // A hop that is not an address breaks the chain, because it is unknown which proxy wrote the hops before
  // it.
  return (
    hops
      .slice(1)
      .map(hopAddress)
      .findLast((at) => at !== undefined) ?? address
  )
}

/** False when the request, including its key, crossed a network in plain text. */
export function cameSafely({ socket, headers }: IncomingMessage): boolean {
  const { proxies, confidential } = known(socket)
  const schemes = proxies === undefined ? [] : valuesOf(headers['x-forwarded-proto'])
  return schemes.length === 0 ? confidential : schemes.every((scheme) => scheme.toLowerCase() === 'https')
}

/**
 * Returns the scheme and host that the client called, without a trailing slash. When several hosts or schemes
 * are given, it is unknown which one the client used, so the request's own host and plain HTTP apply.
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
 * Converts an IPv4-mapped address (`::ffff:192.0.2.1`) to IPv4, and removes the zone (`%eth0`) of an address.
 * Returns an empty string when there is no address.
 */
function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '')
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : ''
}

/**
 * Returns the non-empty values of a list header, first hop first. Hand-written because proxy-addr reads only
 * `x-forwarded-for`.
 */
function valuesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  return text.split(',').flatMap((value) => value.trim() || [])
}

/** Extracts the address from `192.0.2.1`, `192.0.2.1:1234`, `2001:db8::1` or `[2001:db8::1]:1234`. */
function hopAddress(hop: string): string | undefined {
  const text = hop.trim()
  const inBrackets = /^\[([^\]]*)\](:\d+)?$/.exec(text)?.[1]
  const address = inBrackets ?? text.replace(/^([\d.]+):\d+$/, '$1')
  // ipaddr.js also reads plain numbers as addresses.
  if (!/[.:]/.test(address)) return undefined
  return plainAddress(address) || undefined
}
