import { z } from 'zod'
import { GatewayError } from '../canonical/error.ts'
import { askUpstream } from '../gateway/ask-upstream.ts'
import { findHolder } from '../gateway/holders.ts'
import { redactText } from '../redaction/redact.ts'
import type { Gateway } from '../stages/gateway.ts'
import { openInJournal } from '../stages/open-record.ts'
import { keyEndpoint, type OwnEndpoint } from './own-endpoint.ts'

/** The channel that holds an answer gives it again, or forgets it. A tenant finds only ids that it got here itself. */
export function heldAnswerEndpoints(gateway: Gateway): OwnEndpoint[] {
  return [
    heldAnswerEndpoint(gateway, 'GET', 'An answer that an upstream keeps'),
    heldAnswerEndpoint(gateway, 'DELETE', 'Have an upstream forget an answer'),
  ]
}

function heldAnswerEndpoint(gateway: Gateway, method: 'GET' | 'DELETE', summary: string): OwnEndpoint {
  return keyEndpoint({
    method,
    path: '/v1/responses/{id}',
    summary,
    description: 'Of the query, `include` and `starting_after` go upstream; `stream` is refused.',
    logged: true,
    limited: true,
    params: z.object({ id: z.string() }),
    answer: upstreamAnswer,
    async handle({ stage, params: { id } }) {
      const { identity, group, request } = stage
      const query = forwardedQuery(request.url ?? '')
      const { snapshot } = gateway.catalog
      const holder = await findHolder(gateway, identity, id)
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
      const path = `/responses/${encodeURIComponent(id)}${query}`
      const question = { method, path, body: null, headers: [] }
      const body = await askUpstream(gateway, stage, target, question, asItCame).catch((error: unknown) => {
        throw error instanceof GatewayError && error.upstreamStatus === 404 ? notHeld(id) : error
      })
      if (method === 'DELETE') await gateway.heldAnswers.forget(identity.tenantId, id).catch(() => {})
      return { body, headers: { 'content-type': 'application/json' } }
    },
  })
}

const upstreamAnswer = z
  .looseObject({})
  .meta({ id: 'UpstreamAnswer', description: "The upstream's own answer, as it came." })

const protocol = 'openai-responses' as const
/** Parameters of the vendor's SDK that make sense for a whole answer. */
const forwardedMembers: ReadonlySet<string> = new Set(['include', 'include[]', 'starting_after'])

/**
 * With its question mark; empty where nothing of it goes upstream. Throws `unsupported_parameter` for a stream. It is read
 * from the address and by no schema: a name may come more than once, and all of them go upstream in their order.
 */
function forwardedQuery(url: string): string {
  const asked = [...new URL(url, 'http://tollgate').searchParams]
  for (const [name, value] of asked) {
    if (/^stream\b/i.test(name) && !/^(false|0|)$/i.test(value)) {
      throw new GatewayError('unsupported_parameter', 'stream: a held answer is only given whole here', {
        field: 'stream',
      })
    }
  }
  const kept = new URLSearchParams(asked.filter(([name]) => forwardedMembers.has(name)))
  return kept.size === 0 ? '' : `?${kept}`
}

function asItCame(body: Buffer): Buffer {
  return body
}

function notHeld(id: string): GatewayError {
  return new GatewayError(
    'unknown_path',
    `No answer "${redactText(id.slice(0, 256))}" of yours is held here. Only answers of channels that speak the Responses format are, and only when "store" is not false.`,
  )
}
