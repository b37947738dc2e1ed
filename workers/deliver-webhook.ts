import { Client } from 'undici'
import type { z } from 'zod'
import type { ImageGateway } from '../src/images/image-gateway.ts'
import type { ImageJob } from '../src/images/jobs/job.ts'
import { type imageWebhook, jobJson } from '../src/images/jobs/job-json.ts'
import type { Webhook } from '../src/images/jobs/jobs.ts'
import { webhookHeaders } from '../src/images/jobs/webhook-secret.ts'
import { redactText } from '../src/redaction/redact.ts'
import { checkHost, guardedLookup } from '../src/upstream/allowed-addresses.ts'

export interface WebhookOptions {
  allowPrivateAddresses: boolean
}

/**
 * Sends a job's webhook to its client when the job has ended: at least once, each time with the same `webhook-id`. When the
 * client does not accept it, the worker tries again, with growing pauses, and then gives up. It follows no redirect, and
 * calls only the addresses that a channel without `allow_private_address` may call.
 */
export function webhookRunner(gateway: ImageGateway, options: WebhookOptions) {
  return async (id: string): Promise<undefined> => {
    const { jobs } = gateway.images
    const due = await jobs.webhookOf(id)
    if (due === undefined) return
    const { webhookTriesMax, webhookBackoffMs } = gateway.bounds
    const webhook = opened(due.webhook)
    const problem = webhook === undefined ? otherSecretKey : await deliver(gateway, options, due.job, webhook)
    const tries = due.job.webhookTries + 1
    if (problem === undefined) return await jobs.noteWebhook(id, 'delivered', 0).then(() => undefined)
    const givesUp = tries >= webhookTriesMax || problem.final
    gateway.log.warn(
      { job: id, tries, givesUp, cause: redactText(problem.message) },
      'a webhook was not taken',
    )
    // When the next try is due, the sweep queues it again.
    const againMs = Math.min(webhookBackoffMs * 2 ** (tries - 1), longestMs)
    await jobs.noteWebhook(id, givesUp ? 'failed' : 'pending', againMs)
  }
}

const otherSecretKey = { message: 'its address was sealed with another SECRET_KEY', final: true }

function opened(webhook: () => Webhook): Webhook | undefined {
  try {
    return webhook()
  } catch {
    return undefined
  }
}

const longestMs = 6 * 3600 * 1000

async function deliver(
  gateway: ImageGateway,
  { allowPrivateAddresses }: WebhookOptions,
  job: ImageJob,
  { url: target, origin }: Webhook,
): Promise<{ message: string; final: boolean } | undefined> {
  const { links, webhookKeys } = gateway.images
  const now = Date.now()
  const body = JSON.stringify({
    type: `image.generation.${job.state}`,
    timestamp: new Date(now).toISOString(),
    data: jobJson(job, null, (file) => origin + links.sign(file, now)),
  } satisfies z.output<typeof imageWebhook>)
  const message = { id: `msg_${job.id}`, timestamp: Math.floor(now / 1000), body }
  const url = new URL(target)
  let client: Client | undefined
  try {
    checkHost(url.hostname, allowPrivateAddresses)
    const { webhookMs } = gateway.bounds
    client = new Client(url.origin, {
      connect: { timeout: webhookMs, lookup: guardedLookup(allowPrivateAddresses) },
    })
    const answer = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'tollgate/0.1',
        ...webhookHeaders(webhookKeys, job.tenantId, message),
      },
      body,
      signal: AbortSignal.timeout(webhookMs),
    })
    const { statusCode } = answer
    if (statusCode >= 200 && statusCode <= 299) return undefined
    // 410: the client wants no more calls.
    return { message: `answered with status ${statusCode}`, final: statusCode === 410 }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (!message.includes('address refused')) return { message, final: false }
    return {
      message:
        'its address is refused; WEBHOOK_PRIVATE_ADDRESSES=allow lets webhooks go to loopback and private ones',
      final: true,
    }
  } finally {
    // We do not read the body of the answer, which may be long.
    await client?.destroy()
  }
}
