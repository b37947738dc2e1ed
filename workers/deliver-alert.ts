import { webhookBody } from '../src/alerts/alert-webhook.ts'
import { type Destination, openDestination, signingKeys } from '../src/alerts/destination.ts'
import { type DueMessage, noteDelivery, readDueMessage } from '../src/alerts/episode-queries.ts'
import { messageText, webhookFormat } from '../src/alerts/message-format.ts'
import type { MessageKey } from '../src/alerts/transition.ts'
import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { pauseAfter } from '../src/runtime/backoff.ts'
import { type Receipt, sendWebhook, webhookPauseMsMax } from '../src/upstream/webhooks/send-webhook.ts'

const within = { withinMs: 10_000 }
const problemCharactersMax = 500

export type DeliveryContext = Pick<
  Context,
  'database' | 'bounds' | 'log' | 'alertCipher' | 'publicUrl' | 'privateWebhooks'
>

/** The id of a message in the queue. */
export function queueIdOf({ episodeId, event }: MessageKey): string {
  return `${episodeId}-${event}`
}

function messageOf(id: string): MessageKey {
  return { episodeId: id.slice(0, 36), event: id.endsWith('-closed') ? 'closed' : 'opened' }
}

/**
 * Sends the webhook of an alert at least once, each time with the same `webhook-id` and body. If the receiver
 * does not accept it, the sweep queues it again with growing pauses, until it gives up.
 */
export function alertRunner(context: DeliveryContext) {
  const { database, bounds, log } = context
  return async (id: string): Promise<undefined> => {
    const key = messageOf(id)
    const due = await database.jobs.ask(({ db }) => readDueMessage(db, key), within)
    if (due === undefined) return
    const receipt = await deliver(context, key, due)
    const tries = due.message.tries + 1
    if (receipt.taken) {
      const delivered = { state: 'delivered' as const, problem: null, againMs: 0 }
      await database.jobs.ask(({ db }) => noteDelivery(db, key, delivered), within)
      return
    }
    const givesUp = tries >= bounds.webhookTriesMax || receipt.final
    const cause = redactText(receipt.problem).slice(0, problemCharactersMax)
    log.warn({ episode: key.episodeId, tries, givesUp, cause }, 'an alert webhook was not accepted')
    const noted = {
      state: givesUp ? ('failed' as const) : ('pending' as const),
      problem: cause,
      againMs: pauseAfter(tries, { least: bounds.webhookBackoffMs, most: webhookPauseMsMax }),
    }
    await database.jobs.ask(({ db }) => noteDelivery(db, key, noted), within)
  }
}

type Outcome = Pick<Receipt, 'taken' | 'problem' | 'final'>

async function deliver(
  { alertCipher, publicUrl, privateWebhooks, bounds }: DeliveryContext,
  key: MessageKey,
  { message, episode, webhookSealed, webhookFormat: format }: DueMessage,
): Promise<Outcome> {
  if (webhookSealed === null)
    return { taken: false, problem: 'the rule no longer has a webhook', final: true }
  let destination: Destination
  try {
    destination = openDestination(alertCipher, webhookSealed, message.ruleId)
  } catch {
    return { taken: false, problem: 'the webhook address was sealed with another SECRET_KEY', final: true }
  }
  const now = Date.now()
  return await sendWebhook({
    url: destination.url,
    keys: signingKeys(destination, now),
    message: {
      id: `msg_${queueIdOf(key)}`,
      timestamp: Math.floor(now / 1000),
      body: messageText(webhookFormat(format), webhookBody(message, episode, publicUrl), publicUrl),
    },
    allowPrivateAddresses: privateWebhooks,
    withinMs: bounds.webhookMs,
  })
}
