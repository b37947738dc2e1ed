import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Never an upstream, whatever a channel allows: cloud metadata and other link-local services, nobody, everybody. */
const neverRanges = new Set(['linkLocal', 'unspecified', 'multicast', 'broadcast'])

/** Why an upstream address is refused; undefined when it may be called. */
export function refusalOf(address: string, allowPrivate: boolean): string | undefined {
  const range = ipaddr.process(address).range()
  if (neverRanges.has(range)) return `${address} is a ${range} address, which is never called`
  if (range === 'unicast' || allowPrivate) return undefined
  return `${address} is a ${range} address; the channel needs allow_private_address: true to call it`
}

/** A host given as an address is checked here; names are checked when they resolve. */
export function checkHost(hostname: string, allowPrivate: boolean): void {
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) === 0) return
  const refusal = refusalOf(bare, allowPrivate)
  if (refusal !== undefined) throw new Error(`upstream address refused: ${refusal}`)
}

/** A resolver for connections: what it answers is what is connected to, so a name cannot change in between. */
export function guardedLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, done) => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, [])
      const refusals = addresses.map(({ address }) => refusalOf(address, allowPrivate))
      const allowed = addresses.filter((_, i) => refusals[i] === undefined)
      const first = allowed[0]
      if (first === undefined) {
        return done(
          new Error(`upstream address refused: ${refusals.find((refusal) => refusal !== undefined)}`),
          [],
        )
      }
      if (options.all === true) done(null, allowed)
      else done(null, first.address, first.family)
    })
  }
}
