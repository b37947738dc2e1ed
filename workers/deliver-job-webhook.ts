import type { z } from 'zod'
import type { ImageGateway } from '../src/images/image-gateway.ts'
import { type imageWebhook, jobJson } from '../src/images/job-json.ts'
import type { Job } from '../src/jobs/job.ts'
import type { Webhook } from '../src/jobs/jobs.ts'
import { webhookKeysOf } from '../src/jobs/webhook-secret.ts'
import { set } from '../src/pipeline/trace-request.ts'
import { backgroundOf } from '../src/protocols/index.ts'
import { redactText } from '../src/redaction/redact.ts'
import { pauseAfter } from '../src/runtime/backoff.ts'
import { named } from '../src/telemetry/traces/conventions.ts'
import { kinds } from '../src/telemetry/traces/span.ts'
import type { Trace } from '../src/telemetry/traces/trace.ts'
import { sendWebhook, webhookPauseMsMax } from '../src/upstream/webhooks/send-webhook.ts'
import { endJobTrace, jobTrace } from './trace-job.ts'

export interface WebhookOptions {
  allowPrivateAddresses: boolean
}

/**
 * Sends a job's webhook to its client when the job has ended, at least once and each time with the same
 * `webhook-id`. If the client does not accept it, the worker tries again with growing pauses and finally
 * gives up. It follows no redirects, and calls only addresses that a channel without `allow_private_address`
 * can call.
 */
export function webhookRunner(gateway: ImageGateway, options: WebhookOptions) {
  return async (id: string): Promise<undefined> => {
    const { jobs } = gateway
    const due = await jobs.webhookOf(id)
    if (due === undefined) return
    const { webhookTriesMax, webhookBackoffMs } = gateway.bounds
    const webhook = opened(due.webhook)
    const trace = jobTrace(gateway, due.job, 'webhook', kinds.client)
    const failure =
      webhook === undefined ? otherSecretKey : await deliver(gateway, options, due.job, webhook, trace)
    if (trace !== undefined) trace.root.isError = failure !== undefined
    endJobTrace(trace, due.job)
    const tries = due.job.webhookTries + 1
    if (failure === undefined) return await jobs.noteWebhook(id, 'delivered', 0).then(() => undefined)
    const givesUp = tries >= webhookTriesMax || failure.final
    gateway.log.warn(
      { job: id, tries, givesUp, cause: redactText(failure.problem) },
      'a webhook was not accepted',
    )
    // When the next try is due, the sweep queues it again.
    const againMs = pauseAfter(tries, { least: webhookBackoffMs, most: webhookPauseMsMax })
    await jobs.noteWebhook(id, givesUp ? 'failed' : 'pending', againMs)
  }
}

const otherSecretKey = { problem: 'the webhook address was sealed with another SECRET_KEY', final: true }

function opened(webhook: () => Webhook): Webhook | undefined {
  try {
    return webhook()
  } catch {
    return undefined
  }
}

async function deliver(
  gateway: ImageGateway,
  { allowPrivateAddresses }: WebhookOptions,
  job: Job,
  { url, origin }: Webhook,
  trace: Trace | undefined,
): Promise<{ problem: string; final: boolean } | undefined> {
  const { links, webhookKeys } = gateway.images
  const now = Date.now()
  const body = JSON.stringify(
    job.kind === 'answer'
      ? await answerEvent(gateway, job)
      : ({
          type: `image.generation.${job.state}`,
          timestamp: new Date(now).toISOString(),
          data: jobJson(job, {
            position: null,
            linkTo: (file) => origin + links.sign(file, now),
            showsRouting: gateway.showsRouting,
          }),
        } satisfies z.output<typeof imageWebhook>),
  )
  const receipt = await sendWebhook({
    url,
    keys: webhookKeysOf(webhookKeys, job.tenantId),
    message: { id: `msg_${job.id}`, timestamp: Math.floor(now / 1000), body },
    allowPrivateAddresses,
    withinMs: gateway.bounds.webhookMs,
  })
  if (trace?.isSampled === true) {
    const { attributes } = trace.root
    set(attributes, named.method, 'POST')
    set(attributes, named.status, receipt.status)
    set(attributes, named.resends, job.webhookTries > 0 ? job.webhookTries : undefined)
  }
  return receipt.taken ? undefined : receipt
}

async function answerEvent({ backgroundAnswers }: ImageGateway, { id, finishedAt, opened }: Job) {
  const answer = await backgroundAnswers.answerOf(id)
  return backgroundOf(opened.clientProtocol).webhookBody(id, answer, finishedAt ?? new Date())
}
