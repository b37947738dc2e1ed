import { z } from 'zod'
import { features, stop } from './features.ts'
import { type Ask, type CheckTurn, type Reply, shaped, type WireFormat } from './format.ts'
import { messagesParameters } from './messages-parameters.ts'
import { assembleMessage } from './messages-stream.ts'
import { sampleSchema, sampleTool } from './samples.ts'

/**
 * The Messages format. https://platform.claude.com/docs/en/api/messages, and the types of @anthropic-ai/sdk
 * 1.12.
 */
export const messages: WireFormat = {
  id: 'messages',
  title: 'Messages',
  path: '/messages',
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  body: (model, ask) => ({
    model,
    max_tokens: 2048,
    messages: ask.turns.map(turnOf),
    ...(ask.system !== undefined && { system: ask.system }),
    ...toolsOf(ask),
    ...(ask.isStructured && { output_config: { format: { type: 'json_schema', schema: sampleSchema } } }),
    ...(ask.stop !== undefined && { stop_sequences: [ask.stop] }),
    // Newer models refuse a budget, whereas older ones support nothing else.
    ...(ask.reasoning === 'usual' && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
    ...(ask.reasoning === 'other' && { thinking: { type: 'adaptive', display: 'summarized' } }),
    ...(ask.isStream && { stream: true }),
    ...ask.extra,
  }),
  read,
  readStream: (events) => {
    const { message, pieces } = assembleMessage(events)
    return { ...read(message), pieces }
  },
  readError(body) {
    const { error } = shaped(errorEnvelope, body, 'the error')
    return `${error.type}: ${error.message}`
  },
  malformed: { messages: 'this is not a list' },
  checks: [...features(), stop, ...messagesParameters],
}

const errorEnvelope = z.object({
  type: z.literal('error'),
  error: z.object({ type: z.string(), message: z.string() }),
})

function turnOf(turn: CheckTurn): unknown {
  switch (turn.role) {
    case 'assistant':
      return { role: 'assistant', content: turn.raw }
    case 'tool':
      return {
        role: 'user',
        content: turn.results.map(({ id, output }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: output,
        })),
      }
    case 'user': {
      const { text, png, pdf } = turn
      const sourceOf = (media_type: string, data: string) => ({ type: 'base64', media_type, data })
      const media = [
        ...(png === undefined ? [] : [{ type: 'image', source: sourceOf('image/png', png) }]),
        ...(pdf === undefined ? [] : [{ type: 'document', source: sourceOf('application/pdf', pdf) }]),
      ]
      return { role: 'user', content: media.length === 0 ? text : [...media, { type: 'text', text }] }
    }
  }
}

function toolsOf({ tools, choice }: Ask): object {
  if (tools === undefined) return {}
  const named = tools.map(sampleTool)
  return {
    tools: named.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    })),
    ...(typeof choice === 'object' && { tool_choice: { type: 'tool', name: choice.only } }),
    ...(choice === 'none' && { tool_choice: { type: 'none' } }),
    ...(choice === 'required' && { tool_choice: { type: 'any' } }),
  }
}

const answer = z.object({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string(),
  usage: z.object({
    input_tokens: z.int(),
    cache_read_input_tokens: z.int().nullish(),
    cache_creation_input_tokens: z.int().nullish(),
    output_tokens: z.int(),
    output_tokens_details: z.object({ thinking_tokens: z.int().nullish() }).nullish(),
  }),
})

const textBlock = z.object({ text: z.string() })
const callBlock = z.object({ id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) })
const thinkingBlock = z.object({ thinking: z.string(), signature: z.string() })

function read(body: unknown): Reply {
  const { id, content, stop_reason, usage } = shaped(answer, body, 'the response')
  const blocks = (type: string) => content.filter((block) => block.type === type)
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = usage
  return {
    id,
    text: blocks('text')
      .map((block) => shaped(textBlock, block, 'a text block').text)
      .join(''),
    calls: blocks('tool_use')
      .map((block) => shaped(callBlock, block, 'a tool_use block'))
      .map(({ input, ...call }) => ({ ...call, input: JSON.stringify(input) })),
    isCut: stop_reason === 'max_tokens',
    thought: blocks('thinking')
      .map((block) => shaped(thinkingBlock, block, 'a thinking block').thinking)
      .join(' '),
    usage: {
      input: input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0),
      output: output_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
    pieces: 1,
    raw: content,
    body,
  }
}
