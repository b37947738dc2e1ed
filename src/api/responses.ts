import { GatewayError } from '../canonical/error.ts'
import { askUpstream } from '../gateway/ask-upstream.ts'
import { findHolder } from '../gateway/holders.ts'
import { redactText } from '../redaction/redact.ts'
import type { Gateway } from '../stages/gateway.ts'
import { openInJournal } from '../stages/open-record.ts'
import { takeLimits } from '../stages/take-limits.ts'
import type { OwnEndpoint } from './own-endpoint.ts'

/**
 * `GET` and `DELETE /v1/responses/{id}`: answered by the channel that holds the answer. An id that the caller's tenant
 * never got here is not found, whoever else may have it.
 */
export function heldAnswerEndpoints(gateway: Gateway): OwnEndpoint[] {
  return [
    heldAnswerEndpoint(gateway, 'GET', 'An answer that an upstream keeps'),
    heldAnswerEndpoint(gateway, 'DELETE', 'Have an upstream forget an answer'),
  ]
}

function heldAnswerEndpoint(gateway: Gateway, method: 'GET' | 'DELETE', summary: string): OwnEndpoint {
  return {
    method,
    path: '/v1/responses/{id}',
    summary,
    logged: true,
    needsKey: true,
    async handle({ stage, params }) {
      const { identity, group, request } = stage
      const id = params.id ?? ''
      const query = forwardedQuery(request.url ?? '')
      await takeLimits(gateway, stage, 0)
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
  }
}

const protocol = 'openai-responses' as const
/** What the vendor's SDK may ask for a held answer with, as long as it is given whole. */
const forwardedMembers: ReadonlySet<string> = new Set(['include', 'include[]', 'starting_after'])

/** With its question mark; empty where nothing of it goes upstream. Throws `unsupported_parameter` for a stream. */
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
