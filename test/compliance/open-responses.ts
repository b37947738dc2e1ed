import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'

/**
 * What Open Responses asks of an answer and of its events, in schemas of our own: members that it requires are required
 * here, and items, parts and events have no member beside those that it or OpenAI knows.
 *
 * https://www.openresponses.org/specification, read 2026-11-23
 */

const count = z.int().nonnegative()
const id = z.string().min(1)
const logprobs = z.array(z.looseObject({ token: z.string(), logprob: z.number() }))

const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.looseObject({ type: z.string() })),
  logprobs,
})
const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })
const summaryText = z.strictObject({ type: z.literal('summary_text'), text: z.string() })
const reasoningText = z.strictObject({ type: z.literal('reasoning_text'), text: z.string() })
const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() })
const part = z.discriminatedUnion('type', [outputText, refusal, summaryText, reasoningText])

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete'])
const answerMessage = z.strictObject({
  type: z.literal('message'),
  id,
  status: itemStatus,
  role: z.literal('assistant'),
  phase: z.enum(['commentary', 'final_answer']).nullish(),
  content: z.array(z.discriminatedUnion('type', [outputText, refusal])),
})
const functionCall = z.strictObject({
  type: z.literal('function_call'),
  id,
  call_id: id,
  name: id,
  arguments: z.string(),
  status: itemStatus,
})
const reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id,
  summary: z.array(summaryText),
  content: z.array(reasoningText).optional(),
  encrypted_content: z.string().nullish(),
  status: itemStatus.optional(),
})
const answerItem = z.discriminatedUnion('type', [answerMessage, functionCall, reasoning])

const usage = z
  .strictObject({
    input_tokens: count,
    input_tokens_details: z.looseObject({ cached_tokens: count }),
    output_tokens: count,
    output_tokens_details: z.looseObject({ reasoning_tokens: count }),
    total_tokens: count,
  })
  .refine((used) => used.total_tokens === used.input_tokens + used.output_tokens, 'usage: wrong total')

const format = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: id,
    schema: z.record(z.string(), z.unknown()),
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
])

/** All settings of the request are repeated. Other members may be beside them. */
const answer = z.looseObject({
  id,
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: z.strictObject({ reason: z.string() }).nullable(),
  model: id,
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(answerItem),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(z.looseObject({ type: z.string() })),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  usage: usage.nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
})
export type Answer = z.infer<typeof answer>

const compacted = z.strictObject({
  id,
  object: z.literal('response.compaction'),
  created_at: z.int(),
  output: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('message'),
        id,
        status: itemStatus,
        role: z.enum(['user', 'developer', 'system']),
        content: z.array(inputText),
      }),
      z.strictObject({ type: z.literal('compaction'), id, encrypted_content: id }),
    ]),
  ),
  usage,
})
type Compacted = z.infer<typeof compacted>

const place = { item_id: id, output_index: count }
const events = {
  'response.created': { response: answer },
  'response.in_progress': { response: answer },
  'response.completed': { response: answer },
  'response.incomplete': { response: answer },
  'response.failed': { response: answer },
  'response.output_item.added': { output_index: count, item: answerItem },
  'response.output_item.done': { output_index: count, item: answerItem },
  'response.content_part.added': { ...place, content_index: count, part },
  'response.content_part.done': { ...place, content_index: count, part },
  'response.output_text.delta': { ...place, content_index: count, delta: z.string().min(1), logprobs },
  'response.output_text.done': { ...place, content_index: count, text: z.string(), logprobs },
  'response.refusal.delta': { ...place, content_index: count, delta: z.string().min(1) },
  'response.refusal.done': { ...place, content_index: count, refusal: z.string() },
  'response.function_call_arguments.delta': { ...place, delta: z.string().min(1) },
  'response.function_call_arguments.done': { ...place, arguments: z.string(), name: z.string().optional() },
  'response.reasoning_summary_part.added': { ...place, summary_index: count, part: summaryText },
  'response.reasoning_summary_part.done': { ...place, summary_index: count, part: summaryText },
  'response.reasoning_summary_text.delta': { ...place, summary_index: count, delta: z.string().min(1) },
  'response.reasoning_summary_text.done': { ...place, summary_index: count, text: z.string() },
} as const

const eventSchemas: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries(events).map(([type, members]) => [
    type,
    z.strictObject({
      type: z.literal(type),
      sequence_number: count,
      ...members,
      ...(type.endsWith('.delta') ? { obfuscation: z.string().optional() } : {}),
    }),
  ]),
)

const refusedTurn = z.strictObject({
  type: z.literal('error'),
  status: z.int().min(400).max(599),
  error: z.looseObject({ type: id, code: z.string().nullable(), message: id, param: z.string().nullable() }),
})

/** A whole answer. Throws where it breaks a rule. */
export function readAnswer(value: unknown): Answer {
  const read = answer.parse(value)
  must(read.status !== 'completed' || read.error === null, 'a completed answer has an error')
  must(
    read.output.every((item) => item.status !== 'in_progress'),
    'an item of the answer is not done',
  )
  const ids = read.output.map((item) => item.id)
  must(new Set(ids).size === ids.length, 'two items have one id')
  return read
}

/** The answer of `/responses/compact`. Throws where it breaks a rule. */
export function readCompacted(value: unknown): Compacted {
  return compacted.parse(value)
}

/** The frame instead of an answer on a WebSocket: its code. Throws where it breaks a rule. */
export function readRefusedTurn(turn: readonly unknown[]): string | null {
  must(turn.length === 1, `a refusal is one frame, not ${turn.length}`)
  return refusedTurn.parse(turn[0]).error.code
}

/** Each event is named as its data says, and the stream ends. `[DONE]` may come last. Throws where it is not so. */
export function eventsOfStream(text: string): Json[] {
  const frames = text.split('\n\n')
  must(frames.pop() === '', 'the last frame has no end')
  if (frames.at(-1) === 'data: [DONE]') frames.pop()
  return frames.map((frame) => {
    const [, name, data = ''] = /^event: (\S+)\ndata: ([^\n]*)$/.exec(frame) ?? []
    const event: unknown = name === undefined ? undefined : JSON.parse(data)
    must(isRecord(event) && event.type === name, `no named event: ${frame}`)
    return event
  })
}

/** The answer that a stream of events gives. Throws at the first event that breaks a rule. */
export function readEvents(stream: readonly unknown[]): Answer {
  const reader = new StreamReader()
  for (const [at, event] of stream.entries()) reader.take(event, at, at === stream.length - 1)
  return reader.end()
}

interface OpenPart {
  kind: string
  text: string
  isSaid: boolean
}

interface OpenItem {
  id: string
  type: string
  parts: OpenPart[]
  /** Index of the part that is open now. */
  open: number | undefined
  done: Json | undefined
}

const terminals: readonly string[] = ['response.completed', 'response.incomplete', 'response.failed']

/** The members that hold the whole text of a part, by the event that repeats it. */
const wholeTexts: Readonly<Record<string, string>> = {
  'response.output_text.done': 'text',
  'response.refusal.done': 'refusal',
  'response.reasoning_summary_text.done': 'text',
  'response.function_call_arguments.done': 'arguments',
}

class StreamReader {
  readonly #items: OpenItem[] = []
  #head: Json | undefined
  #last: Answer | undefined

  take(event: unknown, at: number, isLast: boolean): void {
    must(isRecord(event), `event ${at} is not an object`)
    const type = String(event.type)
    const schema = eventSchemas.get(type)
    must(schema !== undefined, `event ${at} is ${JSON.stringify(event)}`)
    const { error } = schema.safeParse(event)
    must(error === undefined, `${type} at ${at}: ${JSON.stringify(error?.issues)}`)
    must(event.sequence_number === at, `event ${at} has the number ${event.sequence_number}`)
    const first = ['response.created', 'response.in_progress'][at]
    must(first === undefined || first === type, `${type} at ${at}`)
    must(terminals.includes(type) === isLast, `${type} at ${at}, ${isLast ? 'the last' : 'not the last'}`)
    if (isRecord(event.response)) this.#takeAnswer(event.response, type, at)
    else this.#takePiece(event, type)
  }

  end(): Answer {
    must(this.#last !== undefined, 'the stream has no end')
    return this.#last
  }

  #takeAnswer(response: Json, type: string, at: number): void {
    const { id, object, created_at, model } = response
    const head = { id, object, created_at, model }
    this.#head ??= head
    must(isDeepStrictEqual(head, this.#head), `${type}: another head`)
    if (at < 2) {
      must(response.status === 'in_progress', `${type}: status ${response.status}`)
      must(recordsOf(response.output).length === 0, `${type}: output before its events`)
      return
    }
    must(terminals.includes(type), `${type} at ${at}`)
    must(`response.${response.status}` === type, `${type}: status ${response.status}`)
    must(
      this.#items.every((item) => item.done !== undefined),
      `${type}: an item is open`,
    )
    const streamed = this.#items.map((item) => item.done)
    must(isDeepStrictEqual(response.output, streamed), `${type}: output is not what was streamed`)
    this.#last = readAnswer(response)
  }

  #takePiece(event: Json, type: string): void {
    const at = Number(event.output_index)
    if (type === 'response.output_item.added') {
      must(at === this.#items.length, `${type}: item ${at} after ${this.#items.length}`)
      must(isRecord(event.item), type)
      const { item } = event
      must(
        item.type === 'reasoning' || item.status === 'in_progress',
        `${type}: an item of status ${item.status}`,
      )
      const texts = [...recordsOf(item.content), ...recordsOf(item.summary)]
      must(texts.length === 0 && !item.arguments, `${type}: an item that is not empty`)
      this.#items.push({
        id: String(item.id),
        type: String(item.type),
        parts: [],
        open: undefined,
        done: undefined,
      })
      return
    }
    const item = this.#items[at]
    must(item !== undefined && item.done === undefined, `${type}: item ${at} is not open`)
    if (type === 'response.output_item.done') {
      must(isRecord(event.item), type)
      endItem(item, event.item)
      return
    }
    must(event.item_id === item.id, `${type}: item ${at} has the id ${item.id}`)
    const index = event.content_index ?? event.summary_index
    if (index === undefined) takeArguments(item, event, type)
    else takePart(item, event, { type, index: Number(index) })
  }
}

function takePart(item: OpenItem, event: Json, { type, index }: { type: string; index: number }): void {
  if (type.endsWith('_part.added')) {
    must(index === item.parts.length && item.open === undefined, `${type}: part ${index} out of turn`)
    must(isRecord(event.part) && textIn(event.part) === '', `${type}: a part that is not empty`)
    item.parts.push({ kind: String(event.part.type), text: '', isSaid: false })
    item.open = index
    return
  }
  const part = item.parts[index]
  must(part !== undefined && item.open === index, `${type}: part ${index} is not open`)
  if (type.endsWith('_part.done')) {
    must(isRecord(event.part) && event.part.type === part.kind, `${type}: a part of another kind`)
    must(part.isSaid && textIn(event.part) === part.text, `${type}: another text than its pieces`)
    item.open = undefined
    return
  }
  const kinds: Readonly<Record<string, string>> = {
    output_text: 'output_text',
    refusal: 'refusal',
    reasoning_summary_text: 'summary_text',
  }
  must(kinds[type.split('.')[1] ?? ''] === part.kind, `${type} in a part of kind ${part.kind}`)
  takeText(part, event, type)
}

function takeArguments(item: OpenItem, event: Json, type: string): void {
  must(item.type === 'function_call', `${type} in an item of type ${item.type}`)
  const [part = { kind: 'arguments', text: '', isSaid: false }] = item.parts
  item.parts[0] = part
  takeText(part, event, type)
}

function takeText(part: OpenPart, event: Json, type: string): void {
  must(!part.isSaid, `${type}: after the whole text`)
  if (type.endsWith('.delta')) {
    part.text += String(event.delta)
    return
  }
  must(event[wholeTexts[type] ?? ''] === part.text, `${type}: another text than its pieces`)
  part.isSaid = true
}

function endItem(item: OpenItem, done: Json): void {
  must(done.id === item.id && done.type === item.type, 'an item ends as another one')
  must(item.open === undefined, `item ${item.id} ends with an open part`)
  must(item.type === 'reasoning' || done.status !== 'in_progress', `item ${item.id} ends in progress`)
  const texts =
    item.type === 'function_call'
      ? [done.arguments]
      : recordsOf(item.type === 'message' ? done.content : done.summary).map(textIn)
  const said = item.parts.map(({ text }) => text)
  must(isDeepStrictEqual(texts, said), `item ${item.id} ends with another text than its pieces`)
  must(
    item.parts.every(({ isSaid }) => isSaid),
    `item ${item.id} ends before its text`,
  )
  item.done = done
}

function textIn(part: Json): unknown {
  return part.text ?? part.refusal
}

function must(isSo: boolean, fault: string): asserts isSo {
  if (!isSo) throw new Error(fault)
}
