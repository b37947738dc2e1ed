import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type AddressBlock, blocksOf, contains, type Ip } from '../canonical/address-blocks.ts'
import type { Channel } from '../catalog/snapshot.ts'

/** Which non-public addresses can be called: none, all private ones, or those within these CIDR blocks. */
export type AllowedAddresses = Channel['allowPrivateAddress']

/** The system's resolver, or one supplied by a test. Returns all addresses of a name. */
export type Lookup = (
  hostname: string,
  options: { all: true; family?: number | 'IPv4' | 'IPv6' | undefined },
  done: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void

/**
 * Returns why an upstream address is refused, or undefined if it can be called. If an address contains
 * another one, as in `::ffff:127.0.0.1`, both are checked.
 */
export function addressRefusal(address: string, allowed: AllowedAddresses): string | undefined {
  for (const { ip, place } of placesOf(address)) {
    if (place === 'never') return `${address} is a ${nameOf(ip)} address, which can never be an upstream`
    if (place === 'public' || allowed === true) continue
    if (allowed === false) {
      return `${address} is a ${nameOf(ip)} address; the channel needs allow_private_address: true to call it`
    }
    if (!blocksOf(allowed).some((block) => contains(block, ip))) {
      return `${address} is a ${nameOf(ip)} address outside the blocks in the channel's allow_private_address`
    }
  }
  return undefined
}

/** Checks a host that is an address; a name is checked when it is resolved. Throws an Error. */
export function checkHost(hostname: string, allowed: AllowedAddresses): void {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) === 0) return
  const refusal = addressRefusal(bare, allowed)
  if (refusal !== undefined) throw new Error(`upstream address refused: ${refusal}`)
}

/**
 * Does the same for a host behind a proxy. The proxy resolves names, so its own rules apply to them, except
 * that `localhost` always means the proxy's machine. https://www.rfc-editor.org/rfc/rfc6761#section-6.3
 */
export function checkProxiedHost(hostname: string, allowed: AllowedAddresses): void {
  checkHost(/(^|\.)localhost\.?$/.test(hostname) ? '127.0.0.1' : hostname, allowed)
}

/**
 * Returns a resolver for connections. It checks exactly the addresses to which the socket connects, so a name
 * cannot resolve differently in between.
 */
export function guardedLookup(allowed: AllowedAddresses, lookup: Lookup = systemLookup): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, [])
      const refusals = addresses.map(({ address }) => addressRefusal(address, allowed))
      const kept = addresses.filter((_, i) => refusals[i] === undefined)
      const first = kept[0]
      if (first === undefined) {
        const refusal = refusals.find((text) => text !== undefined) ?? `${hostname} has no addresses`
        return done(new Error(`upstream address refused: ${refusal}`), [])
      }
      if (options.all === true) done(null, kept)
      else done(null, first.address, first.family)
    })
  }
}

/** Returns a key for the policy. A connection allowed by one policy must not be used under another. */
export function policyOf(allowed: AllowedAddresses): string {
  if (typeof allowed === 'boolean') return allowed ? '+' : '-'
  return `[${allowed.join(',')}]`
}

/** Returns the base URLs whose address would be refused on every call, with the reason. */
export function refusedBaseUrls(channels: Iterable<Channel>): string[] {
  return [...channels].flatMap(({ name, protocols, allowPrivateAddress }) =>
    Object.entries(protocols).flatMap(([protocol, baseUrl]) => {
      try {
        checkHost(new URL(baseUrl).hostname, allowPrivateAddress)
        return []
      } catch (error) {
        return [`channel ${name}, ${protocol}: ${error instanceof Error ? error.message : String(error)}`]
      }
    }),
  )
}

type Place = 'public' | 'private' | 'never'

/** Returns the class of the address and of each address that it contains. */
function placesOf(address: string): { ip: Ip; place: Place }[] {
  // A zone (`%eth0`) names an interface and is not part of the address.
  const ip = ipaddr.parse(address.replace(/%.*$/, ''))
  if (ip instanceof ipaddr.IPv4) return [{ ip, place: placeOf4(ip) }]
  const inner = embeddedIn(ip).map((own) => ({ ip: own, place: placeOf4(own) }))
  const outer = isAlias(ip) ? [] : [{ ip, place: placeOf6(ip) }]
  return [...outer, ...inner]
}

function placeOf4(ip: ipaddr.IPv4): Place {
  if (never4.some((block) => contains(block, ip))) return 'never'
  return ip.range() === 'unicast' && !private4.some((block) => contains(block, ip)) ? 'public' : 'private'
}

function placeOf6(ip: ipaddr.IPv6): Place {
  if (never6.some((block) => contains(block, ip))) return 'never'
  if (private6.some((block) => contains(block, ip))) return 'private'
  // According to https://www.iana.org/assignments/ipv6-address-space, everything outside this block is
  // reserved.
  if (!contains(global6, ip)) return 'never'
  return ip.range() === 'unicast' ? 'public' : 'private'
}

/** Returns whether the address is merely another way to write or reach the IPv4 address that it contains. */
function isAlias(ip: ipaddr.IPv6): boolean {
  return contains(mapped, ip) || contains(nat64, ip)
}

/**
 * Returns the IPv4 addresses contained in an IPv6 address. NAT64:
 * https://www.rfc-editor.org/rfc/rfc6052#section-2.2; tunnels: RFC 3056, 4380, 5214.
 */
function embeddedIn(ip: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = ip.toByteArray()
  const at = (...places: number[]) => new ipaddr.IPv4(places.map((place) => bytes[place] ?? 0))
  const last = at(12, 13, 14, 15)
  if (contains(mapped, ip) || contains(translated, ip) || contains(nat64, ip)) return [last]
  if (contains(compatible, ip)) return isLow(ip) ? [] : [last]
  if (contains(localNat64, ip)) return [at(6, 7, 9, 10), at(9, 10, 11, 12), last]
  if (contains(sixToFour, ip)) return [at(2, 3, 4, 5)]
  if (contains(teredo, ip)) {
    return [at(4, 5, 6, 7), new ipaddr.IPv4(last.toByteArray().map((byte) => byte ^ 0xff))]
  }
  const [, , , , high, low] = ip.parts
  const isIsatap = (high === 0 || high === 0x0200) && low === 0x5efe
  return isIsatap ? [last] : []
}

/** Returns whether it is `::` or `::1`, which contain no other address. */
function isLow(ip: ipaddr.IPv6): boolean {
  return ip.parts.slice(0, 7).every((part) => part === 0) && (ip.parts[7] ?? 0) <= 1
}

function nameOf(ip: Ip): string {
  const range = ip.range()
  return range === 'unicast' ? 'special' : range
}

const block = (cidr: string): AddressBlock => ipaddr.parseCIDR(cidr)

/**
 * Blocks that can never be an upstream, even if a channel allows them: unspecified, broadcast, multicast and
 * reserved addresses, and cloud metadata services, which hand out the machine's own credentials.
 */
const never4 = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // The metadata services of Alibaba, Azure and Oracle.
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
].map(block)

/** Blocks that are private although ipaddr.js classifies them as unicast. */
const private4 = ['192.0.0.0/24', '192.88.99.0/24', '198.18.0.0/15'].map(block)

const never6 = [
  '::/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  '100::/64',
  // Amazon's link-local services, including its metadata service, and the metadata services of Google and
  // Oracle.
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
].map(block)

const mapped = block('::ffff:0:0/96')
const translated = block('::ffff:0:0:0/96')
const compatible = block('::/96')
const nat64 = block('64:ff9b::/96')
const localNat64 = block('64:ff9b:1::/48')
const sixToFour = block('2002::/16')
const teredo = block('2001::/32')
const global6 = block('2000::/3')

const private6 = [
  compatible,
  translated,
  localNat64,
  sixToFour,
  ...['fc00::/7', '2001::/23', '2001:db8::/32', '3fff::/20'].map(block),
]
