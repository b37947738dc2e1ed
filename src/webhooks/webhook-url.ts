import { checkHost } from '../upstream/allowed-addresses.ts'

/** The error message for an address that no webhook may have. */
export const webhookUrlForm = 'an http:// or https:// URL of at most 2048 characters without credentials'

/** Undefined: no webhook may have this address. */
export function readWebhookUrl(text: string): URL | undefined {
  const url = text.length <= 2048 && URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === ''
    ? url
    : undefined
}

/**
 * Whether we would refuse to call this host because of its address. A delivery checks the addresses of a
 * name.
 */
export function isRefusedHost({ hostname }: URL, allowPrivate: boolean): boolean {
  try {
    checkHost(hostname, allowPrivate)
    return false
  } catch {
    return true
  }
}
