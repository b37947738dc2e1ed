import type { IncomingMessage } from 'node:http'
import { gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { calledOrigin } from '../http/client-address.ts'
import { isRefusedHost, readWebhookUrl, webhookUrlForm } from '../webhooks/webhook-url.ts'
import type { Gateway } from './gateway.ts'
import type { Received } from './received.ts'

const webhookHeader = 'x-tollgate-webhook'

/**
 * The webhook of a request that becomes a job. Its links begin with the origin that the client called. We
 * refuse here an address that a delivery would refuse; a delivery checks the addresses of a name. Throws
 * `invalid_request`.
 */
export function jobWebhook(
  gateway: Pick<Gateway, 'publicUrl' | 'privateWebhooks'>,
  { request }: Received,
): { url: string; origin: string } | undefined {
  const header = request.headers[webhookHeader]
  if (header === undefined) return undefined
  const url = readWebhookUrl(String(header))
  if (url !== undefined) {
    checkWebhookHost(url, gateway.privateWebhooks)
    return { url: url.href, origin: originFor(gateway, request) }
  }
  throw invalid(webhookHeader, `expected ${webhookUrlForm}`)
}

/**
 * The origin of absolute links: `publicUrl`, or the origin that the client called. Without a slash at the
 * end.
 */
export function originFor({ publicUrl }: Pick<Gateway, 'publicUrl'>, request: IncomingMessage): string {
  return (publicUrl ?? calledOrigin(request)).replace(/\/+$/, '')
}

function checkWebhookHost(url: URL, allowPrivate: boolean): void {
  if (!isRefusedHost(url, allowPrivate)) return
  const facts = { header: webhookHeader, host: url.hostname }
  throw gatewayError('webhook_address_refused', facts, { field: webhookHeader })
}
