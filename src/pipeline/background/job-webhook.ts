import { gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import { isRefusedHost, readWebhookUrl, webhookUrlForm } from '../../upstream/webhooks/webhook-url.ts'
import type { Gateway } from '../gateway.ts'
import type { Received } from '../received.ts'

const webhookHeader = 'x-tollgate-webhook'

/**
 * Returns the webhook of a request that becomes a job. Its links begin with the origin that the client
 * called. An address that a delivery would refuse is refused here; what a host name resolves to is checked at
 * delivery. Throws `invalid_request`.
 */
export function jobWebhook(
  gateway: Pick<Gateway, 'privateWebhooks'>,
  received: Received,
): { url: string; origin: string } | undefined {
  const header = received.exchange.headers[webhookHeader]
  if (header === undefined) return undefined
  const url = readWebhookUrl(String(header))
  if (url !== undefined) {
    checkWebhookHost(url, gateway.privateWebhooks)
    return { url: url.href, origin: originFor(received) }
  }
  throw invalid(webhookHeader, `expected ${webhookUrlForm}`)
}

/**
 * Returns the origin of absolute links, without a trailing slash: `publicUrl`, or the origin that the client
 * called.
 */
export function originFor({ books, exchange }: Pick<Received, 'books' | 'exchange'>): string {
  return (books.publicUrl ?? exchange.origin).replace(/\/+$/, '')
}

function checkWebhookHost(url: URL, allowPrivate: boolean): void {
  if (!isRefusedHost(url, allowPrivate)) return
  const facts = { header: webhookHeader, host: url.hostname }
  throw gatewayError('webhook_address_refused', facts, { field: webhookHeader })
}
