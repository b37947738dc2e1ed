import type { Identity } from '../access/identity.ts'
import { buildSnapshot } from '../catalog/build-snapshot.ts'
import type { AllRows, ChannelRow } from '../catalog/queries.ts'
import type { Database } from '../db/database.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { redactText } from '../redaction/redact.ts'
import { everySecretOf } from '../routing/credentials.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import type { Ledger } from '../shipping/ledger.ts'
import { probeBase, probeFetch } from './probe-fetch.ts'
import { callerOf } from './probe-keys.ts'
import { findProbedOffer, type ProbedOffer, probedProtocols } from './probed-offer.ts'
import { readAttempt } from './queries.ts'

/** The parts of a process that a channel test needs, besides those of every request. */
export interface TestGateway extends Gateway {
  database: Database
  ledger: Ledger
  keeper: SecretKeeper
}

export interface ChannelTest {
  protocol: string
  model: string
  upstreamModel: string
  ok: boolean
  /** The upstream's status; null when it did not answer. */
  status: number | null
  latencyMs: number
  firstByteMs: number | null
  /** The id of the row in the usage log. */
  requestId: string | null
  /** The first characters of the answer, redacted. */
  firstBytes: string
  error: string | null
}

const withinMs = 60_000
const outputTokens = 16
const shownCharacters = 400
const attemptMs = 5_000

/**
 * Returns the offers of a channel that a test calls: one model in each protocol. The channel may be disabled
 * or blocked. Throws a GatewayError `invalid_request`.
 */
export function offersToTest(
  rows: AllRows,
  row: ChannelRow,
  { model, protocol, keeper }: { model: string; protocol: string | undefined; keeper: SecretKeeper },
): ProbedOffer[] {
  const enabled = { ...row, disabledAt: null, blockedAt: null }
  const snapshot = buildSnapshot(
    {
      ...rows,
      revision: 0,
      channels: [enabled],
      offers: rows.offers.filter(({ channelId }) => channelId === row.id),
      groups: [],
      tenants: [],
      groupTenants: [],
      verdicts: [],
      libraryPrices: [],
    },
    keeper,
    () => {},
  )
  const channel = snapshot.channels.get(row.id)
  const protocols =
    protocol !== undefined ? [protocol] : channel === undefined ? [''] : probedProtocols(channel)
  return protocols.map((name) => findProbedOffer(snapshot, { channel: row.name, model, protocol: name }))
}

/**
 * Sends a small request to an offer. The request has a row of the probes' tenant, and takes no client's
 * money.
 */
export async function testOffer(
  gateway: TestGateway,
  offer: ProbedOffer,
  signal: AbortSignal,
): Promise<ChannelTest> {
  const { jobs } = gateway.database
  const identity = await jobs.ask(({ db }) => callerOf(db, `test ${offer.channel.id}`, null), {
    withinMs: attemptMs,
  })
  const begunAt = performance.now()
  let words: string | undefined
  const answer = await ask(gateway, offer, identity, signal, (told) => {
    words = told.replace(/^\w*Error: /, '')
  })
  const latencyMs = Math.round(performance.now() - begunAt)
  const attempt = await attemptOf(gateway, answer.requestId)
  const secrets = everySecretOf(offer.channel)
  const shown = redactText(answer.text, secrets, shownCharacters).slice(0, shownCharacters)
  const ok = answer.status >= 200 && answer.status <= 299
  return {
    protocol: offer.protocol,
    model: offer.name,
    upstreamModel: offer.upstreamModel,
    ok,
    status: attempt === undefined ? (ok ? answer.status : null) : attempt.status,
    latencyMs,
    firstByteMs: attempt?.firstByteMs ?? null,
    requestId: answer.requestId,
    firstBytes: shown,
    error: ok
      ? null
      : redactText(errorOf(attempt, words) ?? answer.text, secrets, shownCharacters).slice(
          0,
          shownCharacters,
        ),
  }
}

/** The words of an upstream that answered replace ours, which are for its clients. */
function errorOf(attempt: Awaited<ReturnType<typeof attemptOf>>, words: string | undefined) {
  if (words === undefined) return attempt?.errorMessage
  const ours = attempt?.status === null ? attempt.errorMessage : null
  return ours === null ? words : `${ours} ${words}`
}

async function ask(
  gateway: Gateway,
  offer: ProbedOffer,
  identity: Identity,
  signal: AbortSignal,
  onCause: (words: string) => void,
) {
  const ask = probeFetch(gateway, offer, identity, onCause)
  try {
    const { path, body } = questionOf(offer)
    const response = await ask(`${probeBase}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
    })
    const text = await response.text()
    return { status: response.status, requestId: response.headers.get('x-request-id'), text }
  } catch (error) {
    return { status: 0, requestId: null, text: `No answer within ${withinMs} ms: ${String(error)}` }
  }
}

function questionOf({ format, name, offer, protocol, upstreamModel }: ProbedOffer) {
  const messages = [{ role: 'user', content: 'Answer with the word: ok' }]
  switch (format) {
    case 'responses':
      return {
        path: '/responses',
        body: { model: name, input: 'Answer with the word: ok', max_output_tokens: outputTokens },
      }
    case 'messages':
      return { path: '/messages', body: { model: name, messages, max_tokens: outputTokens } }
    default: {
      const bound = offer.traits.of(protocol, upstreamModel).outputBound ?? 'max_tokens'
      return { path: '/chat/completions', body: { model: name, messages, [bound]: outputTokens } }
    }
  }
}

/** Returns the upstream's message from the attempt. Undefined until Postgres has the row. */
async function attemptOf({ ledger, database }: TestGateway, requestId: string | null) {
  if (requestId === null) return undefined
  try {
    await ledger.shipNow()
    return await database.jobs.ask(({ db }) => readAttempt(db, requestId), { withinMs: attemptMs })
  } catch {
    return undefined
  }
}
