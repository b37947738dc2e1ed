import type { Client } from 'undici'
import { checkHost, guardedLookup } from '../allowed-addresses.ts'
import { type SignedMessage, signatureHeaders } from './signature.ts'

export interface Delivery {
  url: string
  /** Each of these keys signs the message. */
  keys: readonly Buffer[]
  message: SignedMessage
  allowPrivateAddresses: boolean
  withinMs: number
  /** The maximum number of bytes of the response to read. Nothing is read by default. */
  answerBytesMax?: number
}

/** The result of a delivery. */
export interface Receipt {
  /** Whether the receiver has accepted it. */
  taken: boolean
  /** Undefined if there was no response. */
  status: number | undefined
  /** The beginning of the response body, if the caller requested it. */
  answer: string
  /** Why it was not accepted. */
  problem: string
  /** Whether trying again would be useless. */
  final: boolean
}

/**
 * Sends a signed message once. Follows no redirects, and calls only the addresses that a channel without
 * `allow_private_address` can call. Never rejects.
 */
export async function sendWebhook(delivery: Delivery): Promise<Receipt> {
  const { keys, message, allowPrivateAddresses, withinMs, answerBytesMax = 0 } = delivery
  let client: Client | undefined
  try {
    const url = new URL(delivery.url)
    checkHost(url.hostname, allowPrivateAddresses)
    // Loaded with the first delivery.
    const undici = await import('undici')
    client = new undici.Client(url.origin, {
      connect: { timeout: withinMs, lookup: guardedLookup(allowPrivateAddresses) },
    })
    const { statusCode: status, body } = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'tollgate/0.1',
        ...signatureHeaders(keys, message),
      },
      body: message.body,
      signal: AbortSignal.timeout(withinMs),
    })
    // The rest of the body is not read, because it may be long.
    const answer = answerBytesMax === 0 ? '' : await beginOf(body, answerBytesMax)
    const taken = status >= 200 && status <= 299
    const problem = taken ? '' : `responded with status ${status}`
    // 410 means that the client wants no more calls.
    return { taken, status, answer, problem, final: status === 410 }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const isRefused = text.includes('address refused')
    const problem = isRefused ? refused : text
    return { taken: false, status: undefined, answer: '', problem, final: isRefused }
  } finally {
    await client?.destroy()
  }
}

/** The longest pause between two attempts. */
export const webhookPauseMsMax = 6 * 3600 * 1000

const refused =
  'the webhook address is not allowed; set WEBHOOK_PRIVATE_ADDRESSES=allow to allow loopback and private addresses'

async function beginOf(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes >= bytesMax) break
  }
  return Buffer.concat(parts).subarray(0, bytesMax).toString('utf8')
}
