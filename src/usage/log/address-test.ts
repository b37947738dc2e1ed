import ipaddr from 'ipaddr.js'
import { blocksOf } from '../../canonical/address-blocks.ts'

/**
 * A CIDR block, expressed as tests on text. Addresses are stored as text, which can be looked up in an index.
 */
export type AddressTest =
  /** All addresses in the block begin with this prefix, and no others do. */
  | { kind: 'prefix'; prefix: string }
  /** Addresses with this prefix whose octet (counted from 1) is between `least` and `most`. */
  | { kind: 'octet'; prefix: string; octet: number; least: number; most: number }
  /** Postgres must parse the addresses with this prefix. */
  | { kind: 'inet'; prefix: string; block: string }
  | { kind: 'address'; address: string }

/** `block` must be in the form returned by `readBlock`. */
export function addressTest(block: string): AddressTest {
  const [parsed] = blocksOf([block])
  if (parsed === undefined) throw new Error(`${block} is not a CIDR block`)
  const [network, bits] = parsed
  if (network instanceof ipaddr.IPv4) {
    if (bits === 32) return { kind: 'address', address: network.toString() }
    const whole = Math.trunc(bits / 8)
    const prefix = network.octets
      .slice(0, whole)
      .map((octet) => `${octet}.`)
      .join('')
    const rest = bits % 8
    if (rest === 0 && whole > 0) return { kind: 'prefix', prefix }
    const size = 2 ** (8 - rest)
    const least = (network.octets[whole] ?? 0) & (256 - size)
    return { kind: 'octet', prefix, octet: whole + 1, least, most: least + size - 1 }
  }
  if (bits === 128) return { kind: 'address', address: network.toString() }
  // The text of an address has no leading zeros and can omit a run of zero parts, so only the parts before
  // that run are certain.
  const parts = network.parts.slice(0, Math.trunc(bits / 16))
  const zero = parts.indexOf(0)
  const sure = zero === -1 ? parts : parts.slice(0, zero)
  return {
    kind: 'inet',
    prefix: sure.map((part) => `${part.toString(16)}:`).join(''),
    // Postgres does not support addresses with a zone, such as `fe80::1%eth0`.
    block: `${network.toString().split('%')[0]}/${bits}`,
  }
}
