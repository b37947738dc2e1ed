import ipaddr from 'ipaddr.js'
import { blocksOf } from '../../address-blocks.ts'

/** A CIDR block as tests of a text. Addresses are kept as text, which an index has in its order. */
export type AddressTest =
  /** All addresses of the block begin with it, and no others do. */
  | { kind: 'prefix'; prefix: string }
  /** Those with this prefix whose octet (from 1) is between `least` and `most`. */
  | { kind: 'octet'; prefix: string; octet: number; least: number; most: number }
  /** Postgres must read the addresses with this prefix. */
  | { kind: 'inet'; prefix: string; block: string }
  | { kind: 'address'; address: string }

/** `block`: as `readBlock` returns it. */
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
  // The text of an address has no leading zeros, and may leave out a run of zero parts: only parts before it
  // are sure.
  const parts = network.parts.slice(0, Math.trunc(bits / 16))
  const zero = parts.indexOf(0)
  const sure = zero === -1 ? parts : parts.slice(0, zero)
  return {
    kind: 'inet',
    prefix: sure.map((part) => `${part.toString(16)}:`).join(''),
    // Postgres has no addresses of one interface, as `fe80::1%eth0` is.
    block: `${network.toString().split('%')[0]}/${bits}`,
  }
}
