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
} from './judge.ts'

/** The optional parameters of Chat completions. https://platform.openai.com/docs/api-reference/chat/create */
export const chatParameters: Check[] = [
  parameter('temperature', { temperature: 0.5 }),
  parameter('top_p', { top_p: 0.9 }),
  parameter('max_completion_tokens', { max_completion_tokens: 16 }, { ask: longAsk, judge: judgeBound }),
  parameter('max_tokens', { max_tokens: 16 }, { ask: longAsk, judge: judgeBound }),
  parameter('n', { n: 2 }, { judge: judgeChoices }),
  parameter('seed', { seed: 7 }),
  parameter('presence_penalty', { presence_penalty: 0.1 }),
  parameter('frequency_penalty', { frequency_penalty: 0.1 }),
  parameter('logit_bias', { logit_bias: { '50256': -1 } }),
  parameter('logprobs', { logprobs: true, top_logprobs: 2 }, { judge: judgeLogprobs }),
  parameter(
    'response_format json_object',
    { response_format: { type: 'json_object' } },
    {
      ask: asks('Reply in JSON with one member, "city": a city of France.'),
      judge: judgeJson,
      fields: ['response_format'],
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
  parameter('verbosity', { verbosity: 'low' }),
  parameter('service_tier', { service_tier: 'auto' }),
  parameter('store', { store: false }),
  parameter('user', { user: 'verify' }),
  parameter('safety_identifier', { safety_identifier: 'verify' }),
  parameter('prompt_cache_key', { prompt_cache_key: 'verify' }),
  parameter('metadata', { metadata: { purpose: 'verify' } }),
]

const choices = z.object({ choices: z.array(z.object({ logprobs: z.unknown() })) })
const logprobs = z.object({ content: z.array(z.object({ logprob: z.number() })).min(1) })

function judgeChoices({ body }: Reply): CheckFinding {
  const count = choices.safeParse(body).data?.choices.length ?? 0
  return count === 2 ? ok('two choices') : ignored(`${count} choice, although two were requested`)
}

function judgeLogprobs({ body }: Reply): CheckFinding {
  const [first] = choices.safeParse(body).data?.choices ?? []
  return logprobs.safeParse(first?.logprobs).success
    ? ok('the response contains them')
    : ignored('the response contains none')
}
