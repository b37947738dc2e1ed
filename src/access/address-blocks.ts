import ipaddr from 'ipaddr.js'

export type Block = [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

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
