import ipaddr from 'ipaddr.js'

export type Ip = ipaddr.IPv4 | ipaddr.IPv6
export type Block = [network: Ip, bits: number]

/** By the list itself, so that its blocks are parsed once. */
const parsedBlocks = new WeakMap<readonly string[], Block[]>()

/** CIDR blocks, parsed. Those of IPv4 addresses in IPv6 clothes (`::ffff:192.0.2.0/120`) count as IPv4. */
export function blocksOf(cidrs: readonly string[]): Block[] {
  const parsed = parsedBlocks.get(cidrs)
  if (parsed !== undefined) return parsed
  const blocks = cidrs.map((cidr): Block => {
    const [network, bits] = ipaddr.parseCIDR(cidr)
    const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= 96
    return isMapped ? [network.toIPv4Address(), bits - 96] : [network, bits]
  })
  parsedBlocks.set(cidrs, blocks)
  return blocks
}

/** Whether an address is in one of these CIDR blocks. IPv4 addresses on an IPv6 socket count as IPv4. */
export function isWithin(address: string, cidrs: readonly string[]): boolean {
  if (cidrs.length === 0 || !ipaddr.isValid(address)) return false
  const ip = ipaddr.process(address)
  return blocksOf(cidrs).some((block) => contains(block, ip))
}

export function contains([network, bits]: Block, ip: Ip): boolean {
  if (network instanceof ipaddr.IPv4) return ip instanceof ipaddr.IPv4 && ip.match(network, bits)
  return ip instanceof ipaddr.IPv6 && ip.match(network, bits)
}
