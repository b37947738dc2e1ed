import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { isWithin } from '../address-blocks.ts'

/** Who is at the other end of a connection. */
interface Peer {
  /** IPv4 where it is one, whatever socket it came to. Empty: it had left before it could be asked. */
  address: string
  /** A proxy of the operator's: what it says of its client is believed. */
  proxies: readonly string[] | undefined
  /** Nobody between us can read along: TLS, or the same machine. */
  confidential: boolean
}

const peers = new WeakMap<Duplex, Peer>()

/** Look at a connection once, when it is made. `trustedProxies`: CIDR blocks. */
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
 * The address of the client: behind trusted proxies the last hop of `x-forwarded-for` that is none of them, else the
 * connection's. `forwarded` (RFC 7239) is not read: proxies that write the one header pass the other on as it came.
 */
export function clientAddressOf({ socket, headers }: IncomingMessage): string {
  const { address, proxies } = known(socket)
  if (proxies === undefined) return address
  let nearest = address
  for (const hop of hopsOf(headers['x-forwarded-for']).reverse()) {
    const at = hopAddress(hop)
    // What stands left of a hop that says nothing was said by nobody known.
    if (at === undefined) break
    nearest = at
    if (!isWithin(at, proxies)) break
  }
  return nearest
}

/** False: what the request brought, its key among it, went over some network as plain text. */
export function cameSafely({ socket, headers }: IncomingMessage): boolean {
  const { proxies, confidential } = known(socket)
  const told = proxies === undefined ? [] : hopsOf(headers['x-forwarded-proto'])
  return told.length === 0 ? confidential : told.every((scheme) => scheme.toLowerCase() === 'https')
}

/** Scheme and host that the client called, without a slash behind them. */
export function calledOrigin(request: IncomingMessage): string {
  const { socket, headers } = request
  const { proxies } = known(socket)
  const direct = isEncrypted(socket) ? 'https' : 'http'
  const host = headers.host ?? 'localhost'
  if (proxies === undefined) return `${direct}://${withoutEmptyPort(host)}`
  const [scheme, ...hops] = hopsOf(headers['x-forwarded-proto'])
  const told = hopsOf(headers['x-forwarded-host'])
  const [toldHost, ...others] = told
  const isOne = toldHost !== undefined && others.length === 0 && hostSyntax.test(toldHost)
  const isHttps = scheme === undefined ? direct === 'https' : hops.length === 0 && /^https$/i.test(scheme)
  return `${isHttps ? 'https' : 'http'}://${withoutEmptyPort(isOne ? toldHost : host)}`
}

const withoutEmptyPort = (host: string) => host.replace(/:$/, '')

/** https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2, without the escapes that no client sends. A port may be empty. */
export const hostSyntax = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d{0,5})?$/i

function known(socket: Duplex): Peer {
  return peers.get(socket) ?? peerOf(socket)
}

function peerOf(socket: Duplex): Peer {
  const address = plainAddress(socket instanceof Socket ? (socket.remoteAddress ?? '') : '')
  const confidential = isEncrypted(socket) || (address !== '' && ipaddr.parse(address).range() === 'loopback')
  return { address, proxies: undefined, confidential }
}

function isEncrypted(socket: Duplex): boolean {
  return socket instanceof TLSSocket
}

/** IPv4 addresses that arrive on an IPv6 socket (`::ffff:192.0.2.1`) are IPv4 addresses; a zone is none of our business. */
function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, '')
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : ''
}

function hopsOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  return text.split(',').flatMap((hop) => hop.trim() || [])
}

/** Of `192.0.2.1`, `192.0.2.1:1234`, `2001:db8::1`, or `[2001:db8::1]:1234`. */
function hopAddress(hop: string): string | undefined {
  const inBrackets = /^\[([^\]]*)\](:\d+)?$/.exec(hop)?.[1]
  const address = inBrackets ?? hop.replace(/^([\d.]+):\d+$/, '$1')
  // The library takes numbers for addresses too.
  if (!/[.:]/.test(address)) return undefined
  return plainAddress(address) || undefined
}
