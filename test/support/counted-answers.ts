import { png } from './image-upstream.ts'
import type { Plan } from './upstream.ts'

/** Answers of each format that report any usage. */

/** The formats that upstreams speak. A client speaks the first three; `gemini` is asked by a client of Chat. */
export const formats = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const
export type Format = (typeof formats)[number]
type AnswerFormat = Format | 'openai-images'

export interface Counts {
  input: unknown
  output: unknown
  cached?: unknown
  reasoning?: unknown
  /** Reported first: then the others. */
  before?: { input: number; output: number }
}

/** Counts that cannot be, of a model that reads this many tokens and writes a thousand at most. */
export const absurdCounts = (contextLength: number): Record<string, Counts> => ({
  huge: { input: 1e15, output: 1e15 },
  'more input than the context': { input: contextLength + 1, output: 7 },
  'a full context for a short body': { input: contextLength - 1, output: 7 },
  'more output than the model writes': { input: 11, output: 500_000 },
  negative: { input: -11, output: -7 },
  'null, as NaN becomes': { input: null, output: null },
  text: { input: 'many', output: '7' },
  'no whole numbers': { input: 11.5, output: 7.5 },
  zero: { input: 0, output: 0 },
  'more cached than read': { input: 11, output: 7, cached: 1e6 },
  'more reasoning than output': { input: 11, output: 7, reasoning: 1e6 },
  'twice, the second time huge': { input: 1e15, output: 1e15, before: { input: 11, output: 7 } },
})

const usageOfOpenAI = ({ input, output, cached, reasoning }: Counts) => ({
  input_tokens: input,
  output_tokens: output,
  ...(cached === undefined ? {} : { input_tokens_details: { cached_tokens: cached } }),
  ...(reasoning === undefined ? {} : { output_tokens_details: { reasoning_tokens: reasoning } }),
})

const usageOf: Record<AnswerFormat, (counts: Counts) => object> = {
  'openai-chat': ({ input, output, cached, reasoning }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }),
  'openai-responses': usageOfOpenAI,
  'openai-images': usageOfOpenAI,
  'anthropic-messages': ({ input, output, cached, reasoning }) => ({
    input_tokens: input,
    output_tokens: output,
    ...(cached === undefined ? {} : { cache_read_input_tokens: cached }),
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  }),
  gemini: ({ input, output, cached, reasoning }) => ({
    promptTokenCount: input,
    candidatesTokenCount: output,
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
  }),
}

/** A good answer that reports these counts. */
export function countedAnswer(format: AnswerFormat, stream: boolean, { before, ...counts }: Counts): Plan {
  const reports = before === undefined ? [counts] : [before, counts]
  return answerOf[format](
    reports.map((each) => usageOf[format](each)),
    stream,
  )
}

/** After its first part its client leaves. Then comes the rest, or nothing more. */
export function leftWithin(
  plan: Plan,
  { leave, gone, goesOn }: { leave(): void; gone: Promise<unknown>; goesOn: boolean },
): Plan {
  const isWhole = 'body' in plan
  const [first = '', ...rest] = isWhole
    ? String(plan.body).split(/(?=,)/)
    : [...(plan.chunks as Iterable<string>)]
  function* steps() {
    yield first
    // A client sees nothing of an answer that is not streamed, so it cannot choose this moment itself.
    if (isWhole) leave()
    yield { waitFor: gone }
    if (goesOn) yield* rest
  }
  return { headers: plan.headers ?? {}, chunks: steps(), ending: goesOn ? 'end' : 'stall' }
}

/** A whole answer that reports its usage twice has the member twice: a parser takes the last one. */
const json = (answer: object, member: string, reports: readonly object[]) =>
  JSON.stringify(answer).replace(
    /\}$/,
    `${reports.map((usage) => `,"${member}":${JSON.stringify(usage)}`).join('')}}`,
  )
const whole = (body: string): Plan => ({ headers: { 'content-type': 'application/json' }, body })
const events = (list: readonly object[], ...last: string[]): Plan => ({
  chunks: list
    .map((data) => `${'type' in data ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`)
    .concat(last),
  ending: 'end',
})

const answerOf: Record<AnswerFormat, (reports: readonly object[], stream: boolean) => Plan> = {
  'openai-chat': (reports, stream) => {
    const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
    const message = { role: 'assistant', content: 'Hello there.' }
    if (!stream)
      return whole(
        json(
          { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] },
          'usage',
          reports,
        ),
      )
    const chunk = { ...head, object: 'chat.completion.chunk' }
    const steps = [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ...reports.map((usage) => ({ ...chunk, choices: [], usage })),
    ]
    return events(steps, 'data: [DONE]\n\n')
  },
  'openai-responses': (reports, stream) => {
    const part = { type: 'output_text', text: 'Hello there.', annotations: [] }
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: [item],
      error: null,
    }
    if (!stream) return whole(json(response, 'usage', reports))
    return events([
      {
        type: 'response.created',
        response: { ...response, status: 'in_progress', output: [], usage: reports[0] },
      },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      {
        type: 'response.output_text.delta',
        output_index: 0,
        item_id: 'msg_1',
        content_index: 0,
        delta: part.text,
      },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, usage: reports.at(-1) } },
    ])
  },
  'anthropic-messages': (reports, stream) => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'end_turn',
      stop_sequence: null,
    }
    const content = [{ type: 'text', text: 'Hello there.' }]
    if (!stream) return whole(json({ ...message, content }, 'usage', reports))
    return events([
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: reports[0] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there.' } },
      { type: 'content_block_stop', index: 0 },
      ...reports.map((usage) => ({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage,
      })),
      { type: 'message_stop' },
    ])
  },
  gemini: (reports, stream) => {
    const candidate = {
      index: 0,
      content: { role: 'model', parts: [{ text: 'Hello there.' }] },
      finishReason: 'STOP',
    }
    const response = { responseId: 'r-1', modelVersion: 'm', candidates: [candidate] }
    if (!stream) return whole(json(response, 'usageMetadata', reports))
    return events(reports.map((usageMetadata) => ({ ...response, usageMetadata })))
  },
  'openai-images': (reports) =>
    whole(json({ created: 1, data: [{ b64_json: png().toString('base64') }] }, 'usage', reports)),
}

/** An answer with status 200 that fails, and reports these counts. */
export function failureOf(format: Format, code: string, counts: Counts, stream: boolean): Plan {
  const usage = usageOf[format](counts)
  const message =
    code === 'content_filter' ? 'Output blocked by content filtering policy' : 'The server failed.'
  const error = { message, type: format === 'anthropic-messages' ? 'api_error' : code, code }
  switch (format) {
    case 'openai-chat': {
      const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
      if (!stream)
        return whole(JSON.stringify({ ...head, object: 'chat.completion', choices: [], error, usage }))
      const chunk = { ...head, object: 'chat.completion.chunk' }
      return events([
        { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
        { ...chunk, choices: [], error, usage },
      ])
    }
    case 'openai-responses': {
      const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [] }
      const last = { ...response, status: 'failed', error, usage }
      if (!stream) return whole(JSON.stringify(last))
      return events([
        {
          type: 'response.created',
          response: { ...response, status: 'in_progress', error: null, usage: null },
        },
        { type: 'response.failed', response: last },
      ])
    }
    case 'anthropic-messages': {
      const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] }
      return events([
        {
          type: 'message_start',
          message: { ...head, stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
        },
        {
          type: 'message_delta',
          delta: { stop_reason: null, stop_sequence: null },
          usage,
        },
        { type: 'error', error },
      ])
    }
    case 'gemini': {
      const candidates = [{ index: 0, finishReason: 'MALFORMED_FUNCTION_CALL' }]
      const response = { responseId: 'r-1', modelVersion: 'm', candidates, usageMetadata: usage }
      return stream ? events([response]) : whole(JSON.stringify(response))
    }
  }
}
