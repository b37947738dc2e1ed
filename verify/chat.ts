import { z } from 'zod'
import { chatParameters } from './chat-parameters.ts'
import { features, stop } from './features.ts'
import {
  type Ask,
  type Call,
  type CheckTurn,
  type Reply,
  readOpenAiError,
  shaped,
  type WireFormat,
  WrongShape,
} from './format.ts'
import { jsonIn } from './json.ts'
import { sampleSchema, sampleTool } from './samples.ts'
import type { ServerEvent } from './server-events.ts'

/**
 * The Chat Completions format. https://platform.openai.com/docs/api-reference/chat, and the types of the
 * openai SDK 7.55.
 */
export const chat: WireFormat = {
  id: 'chat',
  title: 'Chat completions',
  path: '/chat/completions',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: (model, ask) => ({
    model,
    messages: [
      ...(ask.system === undefined ? [] : [{ role: 'system', content: ask.system }]),
      ...ask.turns.flatMap(messagesOf),
    ],
    ...toolsOf(ask),
    ...(ask.isStructured && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', strict: true, schema: sampleSchema },
      },
    }),
    ...(ask.stop !== undefined && { stop: [ask.stop] }),
    // A model that does not support low effort may support another one.
    ...(ask.reasoning && { reasoning_effort: ask.reasoning === 'usual' ? 'low' : 'high' }),
    ...(ask.isStream && { stream: true }),
    ...ask.extra,
  }),
  read,
  readStream,
  readError: readOpenAiError,
  malformed: { messages: 'this is not a list' },
  checks: [...features({ stream_options: { include_usage: true } }), stop, ...chatParameters],
}

function messagesOf(turn: CheckTurn): unknown[] {
  switch (turn.role) {
    case 'assistant':
      return [turn.raw]
    case 'tool':
      return turn.results.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output }))
    case 'user': {
      const { text, png, pdf } = turn
      const media = [
        ...(png === undefined
          ? []
          : [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]),
        ...(pdf === undefined
          ? []
          : [
              {
                type: 'file',
                file: { filename: 'word.pdf', file_data: `data:application/pdf;base64,${pdf}` },
              },
            ]),
      ]
      return [{ role: 'user', content: media.length === 0 ? text : [{ type: 'text', text }, ...media] }]
    }
  }
}

function toolsOf({ tools, choice }: Ask): object {
  if (tools === undefined) return {}
  const only = typeof choice === 'object' && { type: 'function', function: { name: choice.only } }
  return {
    tools: tools.map((name) => ({ type: 'function', function: sampleTool(name) })),
    ...(choice !== undefined && { tool_choice: only || choice }),
  }
}

const usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  completion_tokens_details: z.object({ reasoning_tokens: z.int().nullish() }).nullish(),
})

// Members that only the server understands are sent back to it. For example, Gemini puts the signature of a
// thought into a call.
const toolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
})

const message = z.looseObject({
  role: z.literal('assistant'),
  content: z.string().nullish(),
  tool_calls: z.array(toolCall).nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
})

const completion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  choices: z.array(z.object({ index: z.int(), message, finish_reason: z.string() })).min(1),
  usage: usage.nullish(),
})

function read(body: unknown): Reply {
  const { id, choices, usage } = shaped(completion, body, 'the response')
  const [choice] = choices
  if (choice === undefined) throw new WrongShape('the response has no choice')
  const { content, tool_calls, reasoning_content, reasoning } = choice.message
  return {
    id,
    text: content ?? '',
    calls: (tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.function.name,
      input: call.function.arguments,
    })),
    isCut: choice.finish_reason === 'length',
    thought: reasoning_content ?? reasoning ?? '',
    usage: usageOf(usage),
    pieces: 1,
    raw: choice.message,
    body,
  }
}

const chunk = z.object({
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.object({
      index: z.int(),
      delta: z.object({
        content: z.string().nullish(),
        reasoning_content: z.string().nullish(),
        reasoning: z.string().nullish(),
        tool_calls: z
          .array(
            z.object({
              index: z.int(),
              id: z.string().nullish(),
              function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
            }),
          )
          .nullish(),
      }),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: usage.nullish(),
})

function readStream(events: readonly ServerEvent[]): Reply {
  const reply = { text: '', thought: '', pieces: 0, finish: '', usage: undefined as Reply['usage'] }
  const calls = new Map<number, Call>()
  let isDone = false
  for (const [at, { data }] of events.entries()) {
    if (isDone) throw new WrongShape('the stream continues after data: [DONE]')
    if (data === '[DONE]') {
      isDone = true
      continue
    }
    const value = jsonIn(data)
    if (typeof value === 'object' && value !== null && 'error' in value)
      throw new WrongShape(`an error in the stream: ${readOpenAiError(value)}`)
    const part = shaped(chunk, value, `chunk ${at + 1}`)
    reply.usage = usageOf(part.usage) ?? reply.usage
    for (const { delta, finish_reason } of part.choices.filter(({ index }) => index === 0)) {
      if (delta.content) reply.pieces++
      reply.text += delta.content ?? ''
      reply.thought += delta.reasoning_content ?? delta.reasoning ?? ''
      for (const piece of delta.tool_calls ?? []) {
        const call = calls.get(piece.index) ?? { id: '', name: '', input: '' }
        calls.set(piece.index, call)
        call.id ||= piece.id ?? ''
        call.name ||= piece.function?.name ?? ''
        call.input += piece.function?.arguments ?? ''
      }
      reply.finish = finish_reason ?? reply.finish
    }
  }
  if (reply.finish === '') throw new WrongShape('the stream ends without a finish_reason')
  if (!isDone) throw new WrongShape('the stream ends without data: [DONE]')
  const { text, thought, pieces } = reply
  return {
    ...{ id: undefined, text, thought, pieces, calls: [...calls.values()], usage: reply.usage },
    ...{ isCut: reply.finish === 'length', raw: undefined, body: undefined },
  }
}

function usageOf(reported: z.infer<typeof usage> | null | undefined): Reply['usage'] {
  if (reported === undefined || reported === null) return undefined
  return {
    input: reported.prompt_tokens,
    output: reported.completion_tokens,
    reasoning: reported.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}
