import {
  addressOf,
  channelNames,
  type Dice,
  endpoints,
  endUserName,
  groupNames,
  idOf,
  keyCount,
  modelNames,
  tenantCount,
  tenantNames,
  troubles,
  userAgents,
  zipf,
} from './log-people.ts'

/** The columns of `requests` that the lines of `rowLines` have, in their order. */
export const seededColumns =
  'id, created_at, tenant_id, key_id, group_id, endpoint, client_protocol, upstream_protocol, requested_model, served_model, channel, stream, status, outcome, error_kind, error_message, error_upstream_status, finish_reason, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_source, stream_end, cost_nano, queue_ms, first_token_ms, total_ms, attempt_count, notes, client_address, user_agent, upstream_request_id, idempotency_key, images, end_user, session, tags'
export const seededAttemptColumns =
  'request_id, created_at, ordinal, channel, upstream_protocol, upstream_model, reason, passed_over, status, error_kind, error_message, first_byte_ms, total_ms, upstream_request_id'

const tenantIds = tenantNames.map((name) => idOf(`tenant ${name}`))
const groupIds = groupNames.map((name) => idOf(`group ${name}`))

/** Key n of all. The first tenants have most of them. */
export const keyOf = (n: number) => {
  const tenant = n < tenantCount ? n : Math.trunc(tenantCount * ((n * 0.618) % 1) ** 2)
  const group = n % groupNames.length
  return {
    id: idOf(`key ${n}`),
    name: `key-${n}`,
    tenantId: tenantIds[tenant] ?? '',
    groupId: groupIds[group] ?? '',
  }
}
const keys = Array.from({ length: keyCount }, (_, n) => keyOf(n))

const pickKey = zipf(keyCount, 0.9)
const pickModel = zipf(modelNames.length)
const pickChannel = zipf(channelNames.length, 0.9)
const pickEndpoint = zipf(endpoints.length, 1.5)
const pickAgent = zipf(userAgents.length)
const pickTrouble = zipf(troubles.length)
const pickEndUser = zipf(50_000, 0.7)
const pickAddress = zipf(20_000, 0.8)

const notes = JSON.stringify([
  { path: 'messages.0.cache_control', action: 'dropped', reason: 'the upstream has no such field' },
]).replaceAll('\\', '\\\\')

/** A row of one moment, as a line of COPY's text format, and the lines of its attempts. */
export function rowLines(dice: Dice, ms: number): { request: string; attempts: string } {
  const hex = ms.toString(16).padStart(12, '0')
  const random = () => dice.below(65_536).toString(16).padStart(4, '0')
  const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7${random().slice(1)}-8${random().slice(1)}-${random()}${random()}${random()}`
  const at = new Date(ms).toISOString()
  const keyNumber = pickKey(dice)
  const key = keys[keyNumber]
  const [endpoint, protocol] = endpoints[pickEndpoint(dice)] ?? endpoints[0]
  const upstreamProtocol = dice.chance(0.15) ? 'openai-chat' : protocol
  const model = modelNames[pickModel(dice)] ?? ''
  const served = dice.chance(0.3) ? model : `${model}-2026-0${1 + dice.below(9)}-01`
  const channel = channelNames[pickChannel(dice)] ?? ''
  const trouble = dice.chance(0.07) ? troubles[pickTrouble(dice)] : undefined
  const refused = trouble?.outcome === 'refused'
  const stream = dice.chance(0.6)
  const input = dice.skewed(900)
  const output = dice.skewed(250)
  const total = refused ? dice.below(9) : dice.skewed(2_600)
  const attempts = refused ? 0 : dice.chance(0.05) ? 2 : 1
  const n = dice.below(100_000)
  const ok = trouble === undefined
  const orNull = (value: string | number | null | undefined) => value ?? '\\N'
  const sometimes = (share: number, value: () => string | number) => (dice.chance(share) ? value() : '\\N')
  const upstreamId = `req_${n.toString(36)}${random()}${random()}`
  const request = [
    id,
    at,
    key?.tenantId,
    key?.id,
    key?.groupId,
    endpoint,
    protocol,
    refused ? '\\N' : upstreamProtocol,
    model,
    refused ? '\\N' : served,
    refused ? '\\N' : channel,
    stream ? 't' : 'f',
    trouble?.status ?? 200,
    trouble?.outcome ?? 'succeeded',
    orNull(trouble?.kind),
    orNull(trouble?.message(n)),
    orNull(trouble?.upstreamStatus),
    ok ? (dice.chance(0.9) ? 'stop' : 'tool_calls') : '\\N',
    ok ? input : '\\N',
    ok ? dice.below(input + 1) : '\\N',
    ok ? 0 : '\\N',
    ok ? output : '\\N',
    sometimes(ok ? 0.3 : 0, () => dice.skewed(400)),
    ok ? 'upstream' : 'none',
    stream ? (ok ? 'complete' : dice.chance(0.3) ? 'client_gone' : 'upstream_cut') : '\\N',
    sometimes(ok ? 0.97 : 0, () => input * 2_500 + output * 10_000),
    dice.below(4),
    refused ? '\\N' : Math.min(total, dice.skewed(420)),
    total,
    attempts,
    sometimes(0.08, () => notes),
    addressOf(pickAddress(dice)),
    userAgents[pickAgent(dice)],
    refused ? '\\N' : upstreamId,
    sometimes(0.02, () => `idem-${n}-${random()}`),
    endpoint === '/v1/images/generations' ? 1 : '\\N',
    sometimes(0.4, () => endUserName(pickEndUser(dice))),
    sometimes(0.5, () => `session-${keyNumber}-${Math.trunc(ms / 600_000)}-${dice.below(4)}`),
    sometimes(0.08, () => `{project-${dice.below(40)},env-${n % 3}}`),
  ].join('\t')
  if (attempts < 2) return { request: `${request}\n`, attempts: '' }
  const attempt = (ordinal: number, bad: boolean) =>
    `${[
      id,
      at,
      ordinal,
      bad ? (channelNames[n % channelNames.length] ?? '') : channel,
      upstreamProtocol,
      served,
      bad ? 'first choice' : 'next choice',
      'f',
      bad ? 529 : 200,
      bad ? 'upstream_overloaded' : '\\N',
      bad ? 'Overloaded' : '\\N',
      300,
      900,
      upstreamId,
    ].join('\t')}\n`
  return { request: `${request}\n`, attempts: attempt(1, true) + attempt(2, false) }
}
