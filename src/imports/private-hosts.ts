import { isIP } from 'node:net'
import { readBlock } from '../canonical/address-blocks.ts'

/**
 * Returns `allow_private_address` for a base URL whose host is in a private network: the address, loopback,
 * or true for a name without a dot. Undefined if the host looks public, which needs no permission.
 */
export function allowedHosts(url: string): true | string[] | undefined {
  if (!URL.canParse(url)) return undefined
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost') return ['127.0.0.0/8', '::1/128']
  const family = isIP(host)
  if (family === 0) return host.includes('.') && !/\.(local|internal|lan)$/.test(host) ? undefined : true
  const isPrivate =
    family === 4
      ? /^(10|127)\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^169\.254\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./.test(
          host,
        )
      : /^(::1$|f[cd]|fe[89ab])/i.test(host)
  return isPrivate ? [readBlock(host) ?? host] : undefined
}
