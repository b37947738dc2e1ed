import { parameter } from './features.ts'
import type { Check } from './format.ts'
import { bothTools, judgeBound, judgeNoCall, judgeOneCall, judgeSystem, longAsk } from './judge.ts'
import { hello } from './samples.ts'

/** The optional parameters of the Messages format. https://platform.claude.com/docs/en/api/messages/create */
export const messagesParameters: Check[] = [
  parameter('max_tokens', { max_tokens: 16 }, { ask: longAsk, judge: judgeBound }),
  parameter('temperature', { temperature: 0.5 }),
  parameter('top_p', { top_p: 0.9 }),
  parameter('top_k', { top_k: 40 }),
  parameter(
    'system blocks',
    { system: [{ type: 'text', text: 'Begin every answer with the word BANANA, in capital letters.' }] },
    { judge: judgeSystem, fields: ['system'] },
  ),
  parameter(
    'cache_control',
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: hello, cache_control: { type: 'ephemeral' } }] },
      ],
    },
    { fields: ['messages', 'cache_control'] },
  ),
  parameter(
    'tool_choice none',
    { tool_choice: { type: 'none' } },
    { ask: bothTools, judge: judgeNoCall, fields: ['tool_choice'] },
  ),
  parameter(
    'disable_parallel_tool_use',
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    { ask: bothTools, judge: judgeOneCall, fields: ['tool_choice', 'tool_choice.disable_parallel_tool_use'] },
  ),
  parameter('output_config.effort', { output_config: { effort: 'low' } }),
  parameter('metadata', { metadata: { user_id: 'verify' } }),
  parameter('service_tier', { service_tier: 'auto' }),
]
