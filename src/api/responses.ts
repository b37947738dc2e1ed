import { z } from 'zod'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import type { Json } from '../canonical/json.ts'
import { hasEnded, type Job } from '../jobs/job.ts'
import { askUpstream } from '../pipeline/ask-upstream.ts'
import {
  answerNow,
  backgroundJobOf,
  cancelAnswer,
  followAnswer,
} from '../pipeline/background/background-jobs.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { findUsableHolder } from '../pipeline/kept/holders.ts'
import { openInJournal } from '../pipeline/open-record.ts'
import { clientSide, protocolsWithState, stateOf } from '../protocols/index.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { AnswersForm, ItemForm } from '../protocols/protocol-state.ts'
import { redactText } from '../redaction/redact.ts'
import { keepingAdvice, keptScopeOf } from '../state/kept/kept-answers.ts'
import type { KeptScope } from '../state/kept/kept-queries.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { inputItems } from './input-items.ts'

/**
 * Reads or deletes an answer that the gateway or a channel holds. A tenant only finds ids that it received
 * here.
 */
export function heldAnswerEndpoints(gateway: Gateway): ClientEndpoint[] {
  return protocolsWithState().flatMap((protocol) => {
    const { answers, items } = stateOf(protocol)
    if (answers === undefined || items === undefined) return []
    return endpointsOf(gateway, { protocol, form: answers, itemForm: items })
  })
}

/** A format whose stored answers clients can read. */
interface HeldFormat {
  protocol: ProtocolName
  form: AnswersForm
  itemForm: ItemForm
}

function endpointsOf(gateway: Gateway, format: HeldFormat): ClientEndpoint[] {
  const { form, itemForm } = format
  const { forwarded } = form
  return [
    heldAnswerEndpoint(gateway, format, {
      method: 'GET',
      summary: 'Get an answer that the gateway or an upstream keeps',
      description:
        'With `stream=true`, streams the events of a background answer as they arrive, starting after `starting_after`. Other answers are only returned as a whole. The parameters `include` and `starting_after` are passed on to the upstream.',
      forwarded,
      own: async ({ scope, id, job }) => {
        const kept = (await gateway.kept.read(scope, id))?.answer
        return kept ?? (job === undefined ? undefined : await answerNow(gateway, job))
      },
      events: true,
    }),
    heldAnswerEndpoint(gateway, format, {
      method: 'DELETE',
      summary: 'Delete an answer that the gateway or an upstream keeps',
      description:
        'If the gateway kept the answer, answers that continue it can no longer be continued themselves.',
      forwarded,
      own: async ({ scope, id, job }) => {
        if (job !== undefined && !hasEnded(job)) throw gatewayError('answer_in_progress', { id })
        const isKept = await gateway.kept.delete(scope, id)
        if (job !== undefined) await gateway.backgroundAnswers.remove(job.id)
        return isKept || job !== undefined ? form.deleted(id) : undefined
      },
    }),
    heldAnswerEndpoint(gateway, format, {
      method: 'POST',
      below: '/cancel',
      summary: 'Cancel a background answer',
      description:
        'Returns the answer in its state after the call. An answer that has already ended is not changed.',
      forwarded: [],
      own: async ({ scope, id, job }) => {
        if (job !== undefined) {
          await cancelAnswer(gateway, job.id)
          const [now] = await gateway.jobs.read([job.id])
          return await answerNow(gateway, now ?? job)
        }
        if ((await gateway.kept.read(scope, id)) === undefined) return undefined
        throw gatewayError('answer_not_cancellable')
      },
    }),
    heldAnswerEndpoint(gateway, format, {
      method: 'GET',
      below: form.itemsBelow,
      summary: 'List the items of the conversation before a kept answer',
      description:
        'Newest first by default. `limit`: 1 to 100, default 20; `order`: `desc` or `asc`; `after`: the id of an item.',
      forwarded: ['include', 'include[]', 'limit', 'order', 'after'],
      own: async ({ scope, id, url, job }) => {
        const turns = await gateway.kept.chain(scope, id)
        if (turns === 'missing') throw notHeld(id)
        if (turns !== undefined) return inputItems(itemForm, id, turns, url)
        return job === undefined ? undefined : await itemsBefore(gateway, format, { scope, job, id, url })
      },
    }),
  ]
}

interface HeldEndpoint {
  method: 'GET' | 'DELETE' | 'POST'
  /** The part of the path after the id. */
  below?: string
  summary: string
  description: string
  /** The query parameters that are passed on to the upstream. */
  forwarded: readonly string[]
  /** Returns the response if the gateway keeps the answer, otherwise undefined. */
  own(asked: OwnAsked): Promise<Json | undefined>
  /** Whether the events of a background answer can be streamed here. */
  events?: boolean
}

interface OwnAsked {
  scope: KeptScope
  id: string
  url: URL
  /** The job of a background answer. */
  job: Job | undefined
}

function heldAnswerEndpoint(
  gateway: Gateway,
  { protocol, form }: HeldFormat,
  { method, below = '', summary, description, forwarded, own, events = false }: HeldEndpoint,
): ClientEndpoint {
  return keyEndpoint({
    method,
    path: `${form.path}/{id}${below}`,
    summary,
    description,
    logged: true,
    limited: true,
    params: z.object({ id: z.string() }),
    answer: upstreamAnswer,
    async handle({ stage, params: { id } }) {
      const { identity, group, exchange } = stage
      const url = new URL(exchange.path, 'http://tollgate')
      const isElsewhere = gateway.heldAnswers.isKnown(identity.tenantId, id)
      const job = isElsewhere ? undefined : await backgroundJobOf(gateway, identity, protocol, id)
      if (events && job !== undefined && wantsStream(url)) {
        await followAnswer(gateway, stage, { jobId: job.id, from: lastSeen(url, form.resumes) + 1 })
        return undefined
      }
      const query = forwardedQuery(url, forwarded)
      const scope = keptScopeOf(identity, protocol)
      const kept = isElsewhere ? undefined : await own({ scope, id, url, job })
      if (kept !== undefined) return { body: kept }
      const { snapshot } = gateway.catalog
      const holder = await findUsableHolder(gateway, identity, id)
      const channel = [...snapshot.channels.values()].find((one) => one.name === holder?.channel)
      const { channels } = group
      const baseUrl = channel?.protocols[protocol]
      const allowed = channel !== undefined && (channels.includes('*') || channels.includes(channel.name))
      if (channel === undefined || baseUrl === undefined || !allowed) throw notHeld(id)
      await openInJournal(gateway, stage)
      const target = {
        channel,
        protocol,
        native: true,
        baseUrl,
        upstreamModel: null,
        reason: 'holds the answer',
        pinned: holder?.credential ?? undefined,
      }
      const path = `${form.upstreamPath}/${encodeURIComponent(id)}${below}${query}`
      const call = { method, path, body: null, headers: [] }
      const body = await askUpstream(gateway, stage, target, call, asItCame).catch((error: unknown) => {
        throw error instanceof GatewayError && error.upstreamStatus === 404 ? notHeld(id) : error
      })
      if (method === 'DELETE') await gateway.heldAnswers.forget(identity.tenantId, id).catch(() => {})
      return { body, headers: { 'content-type': 'application/json' } }
    },
  })
}

const upstreamAnswer = z
  .looseObject({})
  .meta({ id: 'UpstreamAnswer', description: "The upstream's own response, unchanged." })

/**
 * Returns the query with its `?`, or an empty text if nothing is passed on. Throws `unsupported_parameter`
 * for a stream. Read from the URL instead of through a schema, because a name can occur more than once and
 * all occurrences are passed on in their order.
 */
function forwardedQuery(url: URL, forwarded: readonly string[]): string {
  const asked = [...url.searchParams]
  if (wantsStream(url)) {
    throw gatewayError('answer_events_not_kept', {}, { field: 'stream' })
  }
  const kept = new URLSearchParams(asked.filter(([name]) => forwarded.includes(name)))
  return kept.size === 0 ? '' : `?${kept}`
}

function wantsStream(url: URL): boolean {
  return [...url.searchParams].some(
    ([name, value]) => /^stream\b/i.test(name) && !/^(false|0|)$/i.test(value),
  )
}

/** Returns -1 to start with the first event. Throws `invalid_request`. */
function lastSeen(url: URL, parameter: string): number {
  const given = url.searchParams.get(parameter)
  if (given === null || given === '') return -1
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw invalid(
    parameter,
    `expected the sequence number of an event, got ${JSON.stringify(given.slice(0, 64))}`,
  )
}

/**
 * Returns the items before an answer that is not stored yet: those of its request, after the conversation
 * that it continues.
 */
async function itemsBefore(
  gateway: Gateway,
  { protocol, itemForm }: HeldFormat,
  { scope, job, id, url }: Omit<OwnAsked, 'job'> & { job: Job },
): Promise<Json | undefined> {
  const request = await gateway.backgroundAnswers.keptRequestOf(job.id)
  if (request === undefined) return undefined
  const body = Buffer.from(request.body)
  const facts = clientSide(protocol).readRequest(body, gateway.bounds)
  const { heldId } = facts
  const before = heldId === undefined ? [] : await gateway.kept.chain(scope, heldId)
  if (before === undefined || before === 'missing') return undefined
  const own = { input: stateOf(protocol).itemsIn(body, facts), output: '', answer: {} }
  return inputItems(itemForm, id, [...before, own], url)
}

function asItCame(body: Buffer): Buffer {
  return body
}

function notHeld(id: string): GatewayError {
  return gatewayError('answer_not_held', { id: redactText(id, [], 256), advice: keepingAdvice })
}
