import { z } from 'zod'
import { features } from './features.ts'
import {
  type Ask,
  type CheckTurn,
  type Reply,
  readOpenAiError,
  shaped,
  type WireFormat,
  WrongShape,
} from './format.ts'
import { responsesParameters } from './responses-parameters.ts'
import { finalResponse } from './responses-stream.ts'
import { sampleSchema, sampleTool } from './samples.ts'

/**
 * The Responses format. https://platform.openai.com/docs/api-reference/responses, and the types of the openai
 * SDK 7.55.
 */
export const responses: WireFormat = {
  id: 'responses',
  title: 'Responses',
  path: '/responses',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: (model, ask) => ({
    model,
    input: ask.turns.flatMap(itemsOf),
    ...(ask.system !== undefined && { instructions: ask.system }),
    ...toolsOf(ask),
    ...(ask.isStructured && {
      text: { format: { type: 'json_schema', name: 'place', strict: true, schema: sampleSchema } },
    }),
    ...(ask.reasoning && {
      reasoning: ask.reasoning === 'usual' ? { effort: 'low', summary: 'auto' } : { effort: 'high' },
    }),
    ...(ask.isStream && { stream: true }),
    ...ask.extra,
  }),
  read,
  readStream: (events) => {
    const { response, pieces, text } = finalResponse(events)
    const reply = read(response)
    if (text !== reply.text) throw new WrongShape('the deltas differ from the text of the last event')
    return { ...reply, pieces }
  },
  readError: readOpenAiError,
  malformed: { input: 42 },
  checks: [...features(), ...responsesParameters],
}

function itemsOf(turn: CheckTurn): unknown[] {
  switch (turn.role) {
    case 'assistant':
      return Array.isArray(turn.raw) ? turn.raw : []
    case 'tool':
      return turn.results.map(({ id, output }) => ({ type: 'function_call_output', call_id: id, output }))
    case 'user': {
      const { text, png, pdf } = turn
      const media = [
        ...(png === undefined ? [] : [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }]),
        ...(pdf === undefined
          ? []
          : [{ type: 'input_file', filename: 'word.pdf', file_data: `data:application/pdf;base64,${pdf}` }]),
      ]
      return [{ role: 'user', content: media.length === 0 ? text : [{ type: 'input_text', text }, ...media] }]
    }
  }
}

function toolsOf({ tools, choice }: Ask): object {
  if (tools === undefined) return {}
  return {
    tools: tools.map((name) => ({ type: 'function', ...sampleTool(name), strict: false })),
    ...(choice !== undefined && {
      tool_choice: typeof choice === 'object' ? { type: 'function', name: choice.only } : choice,
    }),
  }
}

const texts = z.array(z.object({ text: z.string() }))

const answer = z.object({
  id: z.string(),
  object: z.literal('response'),
  status: z.string(),
  error: z.object({ message: z.string() }).nullish(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z
    .object({
      input_tokens: z.int(),
      output_tokens: z.int(),
      output_tokens_details: z.object({ reasoning_tokens: z.int().nullish() }).nullish(),
    })
    .nullish(),
})

const messageItem = z.object({
  role: z.literal('assistant'),
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
})
const callItem = z.object({ call_id: z.string(), name: z.string(), arguments: z.string() })
const reasoningItem = z.object({ summary: texts, content: texts.nullish() })

function read(body: unknown): Reply {
  const { id, status, error, output, usage } = shaped(answer, body, 'the response')
  if (status !== 'completed' && status !== 'incomplete')
    throw new WrongShape(`the status of the response is ${status}${error ? `: ${error.message}` : ''}`)
  const items = (type: string) => output.filter((item) => item.type === type)
  const messages = items('message').map((item) => shaped(messageItem, item, 'a message'))
  const calls = items('function_call').map((item) => shaped(callItem, item, 'a function_call'))
  const thoughts = items('reasoning').map((item) => shaped(reasoningItem, item, 'a reasoning item'))
  return {
    id,
    text: messages.flatMap(({ content }) => content.map(({ text }) => text ?? '')).join(''),
    calls: calls.map((call) => ({ id: call.call_id, name: call.name, input: call.arguments })),
    isCut: status === 'incomplete',
    thought: thoughts
      .flatMap(({ summary, content }) => [...summary, ...(content ?? [])].map(({ text }) => text))
      .join(' '),
    usage: usage
      ? {
          input: usage.input_tokens,
          output: usage.output_tokens,
          reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
        }
      : undefined,
    pieces: 1,
    raw: output,
    body,
  }
}
