import { isIP } from 'node:net'
import { type ProtocolName, protocolNames } from '../protocols/protocol.ts'
import { type VendorName, vendorNames, vendors } from '../traits/vendors.ts'

type BaseUrls = Partial<Record<ProtocolName, string>>

/** The settings of a channel that say where its upstream is. */
export interface ChannelPlace {
  protocols?: BaseUrls | undefined
  vendor?: VendorName | undefined
  base_url?: string | undefined
}

/** Protocols of servers that their operator runs: all of these speak Chat Completions. */
const ownServers: readonly ProtocolName[] = ['openai-chat']

/** The base URLs: the stated ones, or those of the vendor. A string says why there are none. */
export function protocolsOf({ protocols, vendor, base_url: baseUrl }: ChannelPlace): BaseUrls | string {
  if (protocols !== undefined) return protocols
  // The place may have other faults, which are reported too.
  const known = vendorNames.find((name) => name === vendor)
  if (known === undefined) {
    if (vendor !== undefined) return {}
    return baseUrl === undefined ? 'is missing' : 'is missing: "base_url" alone needs a vendor'
  }
  const { baseUrls } = vendors[known]
  if (baseUrl === undefined) {
    if (Object.keys(baseUrls).length > 0) return { ...baseUrls }
    return `is missing: the vendor ${known} has no base URL of its own, so write base_url or protocols`
  }
  if (new Set(Object.values(baseUrls)).size > 1) {
    return `is missing: the vendor ${known} has a base URL for each protocol, so "base_url" is not enough`
  }
  const spoken = Object.keys(baseUrls).length > 0 ? protocolsIn(baseUrls) : ownServers
  return Object.fromEntries(spoken.map((name) => [name, baseUrl]))
}

/** The vendor whose hosts these base URLs have; undefined: none, or several. */
export function vendorByHost(baseUrls: Readonly<Record<string, string>>): VendorName | undefined {
  const found = new Set(Object.values(baseUrls).map(vendorOfUrl))
  const [only] = found
  return found.size === 1 ? only : undefined
}

function vendorOfUrl(url: string): VendorName | undefined {
  if (!URL.canParse(url)) return undefined
  const host = new URL(url).hostname
  return vendorNames.find((name) =>
    hostsOf(name).some((known) => host === known || host.endsWith(`.${known}`)),
  )
}

/** Not of servers that anybody runs on `localhost`. */
function hostsOf(name: VendorName): string[] {
  const hosts = Object.values(vendors[name].baseUrls).map((url) => new URL(url).hostname)
  return hosts.filter((host) => host.includes('.') && isIP(host) === 0)
}

function protocolsIn(baseUrls: BaseUrls): ProtocolName[] {
  return protocolNames.filter((name) => baseUrls[name] !== undefined)
}
