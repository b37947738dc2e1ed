import { z } from 'zod'
import { parameter } from './features.ts'
import type { Check, CheckFinding, Reply } from './format.ts'
import {
  asks,
  bothTools,
  ignored,
  judgeBound,
  judgeJson,
  judgeNoCall,
  judgeOneCall,
  longAsk,
  ok,
  quotedStart,
  unknown,
  user,
} from './judge.ts'

/**
 * The optional parameters of the Responses format.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export const responsesParameters: Check[] = [
  parameter('temperature', { temperature: 0.5 }),
  parameter('top_p', { top_p: 0.9 }),
  parameter('max_output_tokens', { max_output_tokens: 16 }, { ask: longAsk, judge: judgeBound }),
  {
    name: 'previous_response_id',
    ask: (known) => {
      const id = known.get('simple request')?.id
      if (id === undefined) return unknown('not checked: the simple request failed')
      return { turns: [user('Which word did I ask you for before?')], extra: { previous_response_id: id } }
    },
    judge: ({ text }) =>
      /hello/i.test(text)
        ? ok('the model knows the previous turn')
        : ignored(`the model does not know the previous turn: ${quotedStart(text)}`),
  },
  parameter('store', { store: false }),
  parameter('metadata', { metadata: { purpose: 'verify' } }, { judge: judgeMetadata }),
  parameter(
    'text.format json_object',
    { text: { format: { type: 'json_object' } } },
    {
      ask: asks('Reply in JSON with one member, "city": a city of France.'),
      judge: judgeJson,
      fields: ['text', 'text.format'],
    },
  ),
  parameter(
    'tool_choice none',
    { tool_choice: 'none' },
    { ask: bothTools, judge: judgeNoCall, fields: ['tool_choice'] },
  ),
  parameter(
    'parallel_tool_calls false',
    { parallel_tool_calls: false },
    {
      ask: bothTools,
      judge: judgeOneCall,
      fields: ['parallel_tool_calls'],
    },
  ),
  parameter('include', { include: ['reasoning.encrypted_content'] }),
  parameter('text.verbosity', { text: { verbosity: 'low' } }),
  parameter('top_logprobs', { top_logprobs: 2, include: ['message.output_text.logprobs'] }),
  parameter('truncation', { truncation: 'auto' }),
  parameter('service_tier', { service_tier: 'auto' }),
  parameter('user', { user: 'verify' }),
  parameter('safety_identifier', { safety_identifier: 'verify' }),
  parameter('prompt_cache_key', { prompt_cache_key: 'verify' }),
]

const echoed = z.object({ metadata: z.object({ purpose: z.literal('verify') }) })

function judgeMetadata({ body }: Reply): CheckFinding {
  return echoed.safeParse(body).success
    ? ok('the response repeats it')
    : ignored('the response does not repeat it')
}
