import ipaddr from 'ipaddr.js'

/**
 * Returns the network of an address: its /24, or its /48 for IPv6. Undefined if the text is not an address.
 */
export function networkOf(address: string): string | undefined {
  // A zone (`%eth0`) names an interface.
  const bare = address.replace(/%.*$/, '')
  if (!ipaddr.isValid(bare)) return undefined
  // An IPv4 address written as an IPv6 address is treated as IPv4.
  const ip = ipaddr.process(bare)
  const bits = ip.kind() === 'ipv4' ? 24 : 48
  const bytes = ip.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`
}
