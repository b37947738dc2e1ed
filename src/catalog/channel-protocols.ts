import { isIP } from 'node:net'
import { type ProtocolName, protocolNames } from '../protocols/protocol.ts'
import { type VendorName, vendorNames, vendors } from './traits/vendors.ts'

type BaseUrls = Partial<Record<ProtocolName, string>>

/** The settings of a channel that determine the location of its upstream. */
export interface ChannelPlace {
  protocols?: BaseUrls | undefined
  vendor?: VendorName | undefined
  base_url?: string | undefined
}

/** The protocol of self-hosted servers, all of which support Chat Completions. */
const ownServers: readonly ProtocolName[] = ['openai-chat']

/**
 * Returns the base URLs, either as configured or those of the vendor. If there are none, returns a string
 * with the reason.
 */
export function protocolsOf({ protocols, vendor, base_url: baseUrl }: ChannelPlace): BaseUrls | string {
  if (protocols !== undefined) return protocols
  // The vendor may be invalid here, because all problems of the settings are reported together.
  const known = vendorNames.find((name) => name === vendor)
  if (known === undefined) {
    if (vendor !== undefined) return {}
    return baseUrl === undefined
      ? 'is missing'
      : 'is missing: "base_url" without "protocols" requires a vendor'
  }
  const { baseUrls } = vendors[known]
  if (baseUrl === undefined) {
    if (Object.keys(baseUrls).length > 0) return { ...baseUrls }
    return `is missing: the vendor ${known} has no default base URL, so set base_url or protocols`
  }
  if (new Set(Object.values(baseUrls)).size > 1) {
    return `is missing: the vendor ${known} uses a different base URL for each protocol, so "base_url" is not enough`
  }
  const spoken = Object.keys(baseUrls).length > 0 ? protocolsIn(baseUrls) : ownServers
  return Object.fromEntries(spoken.map((name) => [name, baseUrl]))
}

/**
 * Returns the vendor to whose hosts these base URLs point, or undefined if there is none or more than one.
 */
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

/** Leaves out servers that anyone can run on `localhost`. */
function hostsOf(name: VendorName): string[] {
  const hosts = Object.values(vendors[name].baseUrls).map((url) => new URL(url).hostname)
  return hosts.filter((host) => host.includes('.') && isIP(host) === 0)
}

function protocolsIn(baseUrls: BaseUrls): ProtocolName[] {
  return protocolNames.filter((name) => baseUrls[name] !== undefined)
}
