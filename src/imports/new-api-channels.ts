import type { Row } from './cells.ts'
import { cellText, isMap, listOf, mapOf, splitCell, wholeOf } from './cells.ts'
import type { ChannelDraft, SecretText } from './imported.ts'
import { type UniqueNames, type VariableNames, visibleName } from './names.ts'
import { channelTypes, foreignTypes } from './new-api-types.ts'
import { allowedHosts } from './private-hosts.ts'
import type { Problems } from './problems.ts'

interface Names {
  channels: UniqueNames
  variables: VariableNames
}

/**
 * Converts a channel and lists the groups that can use it. Returns undefined if it cannot be carried over,
 * and adds the reason to `problems`.
 */
export function channelDraft(
  row: Row,
  names: Names,
  problems: Problems,
): { channel: ChannelDraft; groups: string[] } | undefined {
  const id = cellText(row, 'id')
  const title = visibleName(cellText(row, 'name'), 128) ?? `channel ${id}`
  const where = `channel "${title}" (id ${id})`
  const place = placeOf(row, where, problems)
  if (place === undefined) return undefined
  const models = offersOf(row, where, problems)
  if (Object.keys(models).length === 0) {
    problems.lost(where, 'none of its models can be carried over')
    return undefined
  }
  const name = names.channels.give(title === '*' ? 'channel' : title, `#${id}`)
  const { keys, areAllDisabled } = keysOf(row, where, problems)
  const settings = settingsOf(row, { where, name, names, problems })
  tellLost(row, where, problems)
  const status = wholeOf(row, 'status', where) ?? 1n
  const weight = wholeOf(row, 'weight', where) ?? 0n
  return {
    channel: {
      name,
      ...place,
      api_keys: keys.map((value, at) => secret(names.variables.give(name, 'key', String(at + 1)), value)),
      models,
      priority: bounded(wholeOf(row, 'priority', where) ?? 0n, -1_000_000n, 1_000_000n),
      weight: bounded(weight, 1n, 1_000_000n),
      ...settings.draft,
      disabled: status !== 1n || areAllDisabled || settings.disables,
    },
    groups: listOf(row, 'group'),
  }
}

function secret(variable: string, value: string): SecretText {
  return { variable, value }
}

function bounded(value: bigint, least: bigint, most: bigint): number {
  return Number(value < least ? least : value > most ? most : value)
}

function placeOf(row: Row, where: string, problems: Problems) {
  const number = Number(wholeOf(row, 'type', where) ?? 0n)
  const stated = cellText(row, 'base_url').trim().replace(/\/+$/, '')
  const type = channelTypes.get(number)
  const foreign = foreignTypes.get(number)
  if (type === undefined) {
    problems.lost(
      where,
      foreign === undefined
        ? `its type ${number} is unknown: create the channel manually, with the protocol of its upstream`
        : `its type ${number} (${foreign}) speaks no protocol that Tollgate supports`,
    )
    return undefined
  }
  const origin = stated || type.baseUrl
  if (origin === undefined) {
    problems.lost(where, `it has no base URL, and there is no default for ${type.title}`)
    return undefined
  }
  if (!URL.canParse(origin)) {
    problems.lost(where, 'its base URL is not a valid URL')
    return undefined
  }
  if (number === 1 && stated === '') return { vendor: 'openai' }
  if (number === 3) problems.changed(where, 'Azure is called through its v1 API, without an api-version')
  const base = origin.replace(/\/v1$/, '')
  const protocols: Record<string, string> = Object.fromEntries(
    Object.entries(type.path).map(([protocol, path]) => {
      if (number === 8) return [protocol, origin.replace(/\/chat\/completions$/, '')]
      return [protocol, base + path]
    }),
  )
  if (number === 1 && listOf(row, 'models').some((name) => /image|dall-e/i.test(name))) {
    protocols['openai-images'] = `${base}/v1`
  }
  const allowed = allowedHosts(origin)
  if (allowed !== undefined)
    problems.note(where, 'its upstream is in a private network; the channel is allowed to call it')
  return {
    ...(type.vendor !== undefined && { vendor: type.vendor }),
    protocols,
    ...(allowed !== undefined && { allow_private_address: allowed }),
  }
}

/** Maps each of the channel's models to its upstream name, following chains in `model_mapping`. */
function offersOf(row: Row, where: string, problems: Problems): Record<string, string> {
  const mapping = mapOf(cellText(row, 'model_mapping'))
  if (mapping === undefined) problems.lost(where, 'its model_mapping, because it is not a JSON map')
  const offers = new Map<string, string>()
  for (const model of listOf(row, 'models')) {
    if (model === '*' || visibleName(model, 256) !== model) {
      problems.lost(where, 'a model whose name is not valid in Tollgate')
      continue
    }
    let upstream = model
    const seen = new Set([model])
    for (;;) {
      const next = mapping === undefined || !Object.hasOwn(mapping, upstream) ? undefined : mapping[upstream]
      if (typeof next !== 'string' || next.trim() === '') break
      if (seen.has(next)) {
        if (next !== upstream) problems.changed(where, `its model_mapping has a cycle at ${upstream}`)
        break
      }
      seen.add(next)
      upstream = next
    }
    if (visibleName(upstream, 256) !== upstream)
      problems.lost(where, `${model}: its upstream name is not valid in Tollgate`)
    else offers.set(model, upstream)
  }
  return Object.fromEntries(offers)
}

function keysOf(row: Row, where: string, problems: Problems): { keys: string[]; areAllDisabled: boolean } {
  const info = mapOf(cellText(row, 'channel_info')) ?? {}
  const text = cellText(row, 'key').trim()
  const all = info.is_multi_key === true || info.is_multi_key === 1 ? splitCell(text, /\r?\n/) : [text]
  const statuses = isMap(info.multi_key_status_list) ? info.multi_key_status_list : {}
  const enabled = all.filter((_, at) => statuses[at] === undefined || Number(statuses[at]) === 1)
  if (enabled.length === 0) return { keys: all, areAllDisabled: true }
  if (enabled.length < all.length) {
    problems.lost(
      where,
      `${all.length - enabled.length} of its ${all.length} keys, because they are disabled`,
    )
  }
  return { keys: enabled, areAllDisabled: false }
}

interface Place {
  where: string
  name: string
  names: Names
  problems: Problems
}

function settingsOf(row: Row, { where, name, names, problems }: Place) {
  const draft: Partial<ChannelDraft> = {}
  let disables = false
  const { proxy } = mapOf(cellText(row, 'setting')) ?? {}
  if (typeof proxy === 'string' && proxy.trim() !== '') {
    if (/^https?:\/\//.test(proxy)) draft.proxy = secret(names.variables.give(name, 'proxy'), proxy)
    else {
      problems.changed(
        where,
        'its proxy uses SOCKS, which Tollgate does not support, so the channel is disabled',
      )
      disables = true
    }
  }
  const headers = new Map<string, SecretText>()
  const organisation = cellText(row, 'openai_organization').trim()
  if (organisation !== '') {
    headers.set('openai-organization', secret(names.variables.give(name, 'organization'), organisation))
  }
  for (const [header, value] of Object.entries(mapOf(cellText(row, 'header_override')) ?? {})) {
    if (typeof value !== 'string' || /[{}]/.test(value)) problems.lost(where, `its header ${header}`)
    else headers.set(header, secret(names.variables.give(name, header), value))
  }
  if (headers.size > 0) draft.headers = Object.fromEntries(headers)
  return { draft, disables }
}

function tellLost(row: Row, where: string, problems: Problems): void {
  for (const [column, what] of Object.entries(lostColumns)) {
    const value = cellText(row, column).trim()
    if (!['', '{}', '[]', 'null'].includes(value)) problems.lost(where, what)
  }
}

const lostColumns: Readonly<Record<string, string>> = {
  param_override: 'its parameter overrides (param_override)',
  status_code_mapping: 'its status code mapping (status_code_mapping)',
}
