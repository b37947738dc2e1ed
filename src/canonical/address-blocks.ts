import ipaddr from 'ipaddr.js'

export type Ip = ipaddr.IPv4 | ipaddr.IPv6
export type AddressBlock = [network: Ip, bits: number]

/**
 * The only parser of CIDR blocks. A single address becomes its own block; anything else returns undefined.
 */
export function readBlock(text: string): string | undefined {
  if (ipaddr.isValidCIDR(text)) return text
  if (ipaddr.isValid(text)) return `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`
  return undefined
}

/** Keyed by the list itself, so that its blocks are parsed only once. */
const parsedBlocks = new WeakMap<readonly string[], AddressBlock[]>()

/** Returns the parsed CIDR blocks. IPv4-mapped blocks (`::ffff:192.0.2.0/120`) are treated as IPv4. */
export function blocksOf(cidrs: readonly string[]): AddressBlock[] {
  const parsed = parsedBlocks.get(cidrs)
  if (parsed !== undefined) return parsed
  const blocks = cidrs.map((cidr): AddressBlock => {
    const [network, bits] = ipaddr.parseCIDR(cidr)
    const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= 96
    return isMapped ? [network.toIPv4Address(), bits - 96] : [network, bits]
  })
  parsedBlocks.set(cidrs, blocks)
  return blocks
}

/**
 * Returns whether an address is in one of these CIDR blocks. IPv4-mapped addresses (`::ffff:192.0.2.1`) are
 * treated as IPv4.
 */
export function isWithin(address: string, cidrs: readonly string[]): boolean {
  if (cidrs.length === 0 || !ipaddr.isValid(address)) return false
  const ip = ipaddr.process(address)
  return blocksOf(cidrs).some((block) => contains(block, ip))
}

/** Returns whether a whole CIDR block is contained in one of these. */
export function isCovered(cidr: string, cidrs: readonly string[]): boolean {
  const [inner] = blocksOf([cidr])
  if (inner === undefined) return false
  return blocksOf(cidrs).some((block) => block[1] <= inner[1] && contains(block, inner[0]))
}

export function contains([network, bits]: AddressBlock, ip: Ip): boolean {
  if (network instanceof ipaddr.IPv4) return ip instanceof ipaddr.IPv4 && ip.match(network, bits)
  return ip instanceof ipaddr.IPv6 && ip.match(network, bits)
}
