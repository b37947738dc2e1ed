import { checkHost } from '../allowed-addresses.ts'

/** The error message for an address that a webhook cannot have. */
export const webhookUrlForm = 'an http:// or https:// URL of at most 2048 characters without credentials'

/** Returns undefined if a webhook cannot have this address. */
export function readWebhookUrl(text: string): URL | undefined {
  const url = text.length <= 2048 && URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === ''
    ? url
    : undefined
}

/**
 * Returns whether this host would be refused because of its address. The addresses of a name are checked on
 * delivery.
 */
export function isRefusedHost({ hostname }: URL, allowPrivate: boolean): boolean {
  try {
    checkHost(hostname, allowPrivate)
    return false
  } catch {
    return true
  }
}
