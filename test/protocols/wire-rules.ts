import { isDeepStrictEqual } from 'node:util'
import { isRecord, type Json, parseObject, recordsOf } from '../../src/canonical/json.ts'

export type ClientName = 'openai-chat' | 'openai-responses' | 'anthropic-messages'

/**
 * The first rule of its format that a streamed answer breaks; undefined when it keeps all of them. The rules are those
 * that the vendors' own clients check, not those of our readers, which forgive much.
 */
export function streamFault(format: ClientName, text: string): string | undefined {
  const frames = text.split('\n\n')
  if (frames.pop() !== '') return 'the last frame has no end'
  return rules[format](frames)
}

const rules: Readonly<Record<ClientName, (frames: string[]) => string | undefined>> = {
  'openai-chat': chatFault,
  'openai-responses': responsesFault,
  'anthropic-messages': messagesFault,
}

function chatFault(frames: string[]): string | undefined {
  const isFailed = parseObject((frames.at(-1) ?? '').slice('data: '.length))?.error !== undefined
  const last = frames.pop()
  if (!isFailed && last !== 'data: [DONE]') return `the last frame is ${last}`
  const head: unknown[] = []
  const ids: unknown[] = []
  let finishes = 0
  let isUsageTold = false
  for (const [at, frame] of frames.entries()) {
    const chunk = frame.startsWith('data: ') ? parseObject(frame.slice('data: '.length)) : undefined
    if (chunk === undefined) return `frame ${at} is ${frame}`
    const { id, object, created, model } = chunk
    if (at === 0) head.push(id, object, created, model)
    if (!isDeepStrictEqual(head, [id, object, created, model])) return `frame ${at} has another head`
    const [choice] = recordsOf(chunk.choices)
    if (choice === undefined) {
      if (finishes === 0 || isUsageTold || !isRecord(chunk.usage)) return `frame ${at} has no choice`
      isUsageTold = true
      continue
    }
    if (finishes > 0) return `frame ${at} continues after the finish reason`
    const delta = isRecord(choice.delta) ? choice.delta : {}
    if ((delta.role === 'assistant') !== (at === 0)) return `frame ${at} and the role`
    if (at > 0 && [delta.content, delta.refusal, delta.reasoning_content].includes(''))
      return `frame ${at} says nothing`
    if (choice.finish_reason !== null) {
      finishes++
      const word = ids.length > 0 ? /^(tool_calls|length|content_filter)$/ : /^(stop|length|content_filter)$/
      if (!word.test(String(choice.finish_reason))) return `finish reason ${choice.finish_reason}`
      if (Object.keys(delta).length > 0) return 'the finish reason stands beside content'
    }
    const fault = chatCallsFault(recordsOf(delta.tool_calls), ids)
    if (fault !== undefined) return `frame ${at}: ${fault}`
  }
  return isFailed || finishes === 1 ? undefined : `${finishes} finish reasons`
}

function chatCallsFault(calls: Json[], ids: unknown[]): string | undefined {
  for (const { index, id, type, ...body } of calls) {
    const { name } = Object.values(body).find(isRecord) ?? {}
    if (index === ids.length) {
      if (typeof id !== 'string' || id === '' || id.length > 40 || ids.includes(id)) return `call id ${id}`
      if (typeof name !== 'string' || typeof type !== 'string') return 'a call begins without name or type'
      ids.push(id)
    } else if (!Number.isSafeInteger(index) || Number(index) > ids.length) return `call index ${index}`
    else if (id !== undefined || name !== undefined) return `call ${index} begins twice`
  }
  return undefined
}

/** The data of each frame. The frame's name must fit it. */
function namedEvents(frames: string[]): (Json & { type: string })[] | string {
  const events: (Json & { type: string })[] = []
  for (const frame of frames) {
    const [, name = '', data = ''] = /^event: (\S+)\ndata: ([^\n]*)$/.exec(frame) ?? []
    const event = parseObject(data)
    if (event === undefined || event.type !== name) return `no named event: ${frame}`
    events.push({ ...event, type: name })
  }
  return events
}

const deltasOf: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  web_search_tool_result: [],
}

/** These come whole. */
const wholeBlocks = new Set(['redacted_thinking', 'web_search_tool_result'])

function messagesFault(frames: string[]): string | undefined {
  const events = namedEvents(frames)
  if (typeof events === 'string') return events
  const callIds: unknown[] = []
  const searchIds: unknown[] = []
  /** The search whose result is the next block. */
  let search: unknown
  let blocks = 0
  let open: { type: string; deltas: number; isSigned: boolean } | undefined
  let stop: Json | undefined
  for (const [at, event] of events.entries()) {
    const { type, index } = event
    const isLast = at === events.length - 1
    // An answer may fail before it begins.
    if (type === 'error' && isLast) break
    if ((type === 'message_start') !== (at === 0)) return `${type} at ${at}`
    if ((type === 'message_stop') !== isLast) return `${type} at ${at} of ${events.length}`
    if (stop !== undefined && !isLast) return `${type} after message_delta`
    if (type === 'content_block_start') {
      const block = isRecord(event.content_block) ? event.content_block : {}
      if (open !== undefined || index !== blocks) return `block ${index} starts as number ${blocks}`
      open = { type: String(block.type), deltas: 0, isSigned: false }
      if (block.type === 'tool_use') {
        if (!/^[a-zA-Z0-9_-]+$/.test(String(block.id)) || callIds.includes(block.id))
          return `call id ${block.id}`
        callIds.push(block.id)
      }
      const isResult = block.type === 'web_search_tool_result'
      if (isResult !== (search !== undefined) || (isResult && block.tool_use_id !== search))
        return `the result of the search ${search} is not right after it`
      search = block.type === 'server_tool_use' ? block.id : undefined
      if (
        search !== undefined &&
        (!/^srvtoolu_[a-zA-Z0-9_-]+$/.test(String(search)) || searchIds.includes(search))
      )
        return `search id ${search}`
      if (search !== undefined) searchIds.push(search)
    } else if (type === 'content_block_delta') {
      const delta = isRecord(event.delta) ? event.delta : {}
      if (open === undefined || index !== blocks) return `a delta for block ${index}, which is not open`
      if (!deltasOf[open.type]?.includes(String(delta.type)))
        return `${delta.type} in a block of ${open.type}`
      if (open.isSigned) return `${delta.type} after the signature`
      open.isSigned = delta.type === 'signature_delta'
      open.deltas++
    } else if (type === 'content_block_stop') {
      if (open === undefined || index !== blocks) return `block ${index} stops, which is not open`
      if (open.deltas === 0 && !wholeBlocks.has(open.type)) return `an empty block of ${open.type}`
      open = undefined
      blocks++
    } else if (type === 'message_delta') {
      if (open !== undefined) return `block ${blocks} is open at the end`
      if (search !== undefined) return `the search ${search} has no result`
      stop = isRecord(event.delta) ? event.delta : {}
      if (!isRecord(event.usage) || typeof event.usage.output_tokens !== 'number')
        return 'no usage at the end'
    }
  }
  if (events.at(-1)?.type === 'error') return undefined
  const reasons =
    callIds.length > 0
      ? ['tool_use', 'max_tokens', 'refusal', 'pause_turn']
      : ['end_turn', 'stop_sequence', 'max_tokens', 'refusal', 'pause_turn']
  return reasons.includes(String(stop?.stop_reason)) ? undefined : `stop reason ${stop?.stop_reason}`
}

interface OpenItem {
  id: unknown
  /** The text so far of each open part, by kind and part. */
  parts: Map<string, string>
  isDone: boolean
}

function responsesFault(frames: string[]): string | undefined {
  if (frames.pop() !== 'data: [DONE]') return 'no [DONE]'
  const events = namedEvents(frames)
  if (typeof events === 'string') return events
  const items: OpenItem[] = []
  const done: Json[] = []
  const answerIds = new Set<unknown>()
  for (const [at, event] of events.entries()) {
    const { type } = event
    if (event.sequence_number !== at) return `event ${at} has the number ${event.sequence_number}`
    const first = ['response.created', 'response.in_progress'][at]
    if (first !== undefined && type !== first) return `${type} at ${at}`
    if (isRecord(event.response)) answerIds.add(event.response.id)
    const isTerminal = /^response\.(completed|incomplete|failed)$/.test(type)
    if (isTerminal !== (at === events.length - 1)) return `${type} at ${at} of ${events.length}`
    const place = event.output_index
    if (typeof place !== 'number') continue
    if (type === 'response.output_item.added') {
      if (place !== items.length) return `item ${place} is announced as number ${items.length}`
      items.push({ id: isRecord(event.item) ? event.item.id : undefined, parts: new Map(), isDone: false })
      continue
    }
    const item = items[place]
    if (item === undefined || item.isDone) return `${type} for item ${place}, which is not open`
    if (type === 'response.output_item.done') {
      if (!isRecord(event.item) || event.item.id !== item.id) return `item ${place} has another id at its end`
      if (event.item.type === 'message' && recordsOf(event.item.content).length === 0)
        return 'an empty message'
      item.isDone = true
      done[place] = event.item
      continue
    }
    if (event.item_id !== item.id) return `${type}: item ${place} has another id`
    const fault = partFault(event, item)
    if (fault !== undefined) return fault
  }
  if (answerIds.size !== 1) return `ids of the answer: ${[...answerIds].join(' ')}`
  const last = events.at(-1)
  if (last?.type === 'response.failed') return undefined
  if (items.some(({ isDone }) => !isDone)) return 'an item is open at the end'
  if (new Set(items.map(({ id }) => id)).size < items.length) return 'an item id twice'
  const callIds = done.flatMap(({ call_id }) => (call_id === undefined ? [] : [call_id]))
  if (new Set(callIds).size < callIds.length) return 'a call id twice'
  const output = isRecord(last?.response) ? last.response.output : undefined
  return isDeepStrictEqual(output, done) ? undefined : 'the end does not have what was streamed'
}

/** Pieces come after the announcement of their part and before its end, which repeats all of them. */
function partFault(event: Json & { type: string }, { parts }: OpenItem): string | undefined {
  const { type } = event
  const part = String(event.content_index ?? event.summary_index ?? '')
  const added = /^response\.(?:content|reasoning_summary)_part\.(added|done)$/.exec(type)?.[1]
  if (added === 'added') {
    if (parts.has(part)) return `part ${part} is announced twice`
    parts.set(part, '')
  } else if (added === 'done') {
    return parts.has(part) ? undefined : `part ${part} ends, which is not there`
  } else if (typeof event.delta === 'string') {
    if (part !== '' && !parts.has(part)) return `${type} for part ${part}, which is not announced`
    parts.set(part, (parts.get(part) ?? '') + event.delta)
  } else if (type.endsWith('.done')) {
    const whole = event.text ?? event.refusal ?? event.arguments ?? event.input
    if (whole !== (parts.get(part) ?? '')) return `${type} has other text than its pieces`
  }
  return undefined
}
