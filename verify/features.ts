import type { Ask, Check, CheckFinding, CheckTurn, Known } from './format.ts'
import {
  asks,
  bothTools,
  colour,
  document,
  judgeCalls,
  judgeDocument,
  judgeImage,
  judgeReasoning,
  judgeSecondTurn,
  judgeStop,
  judgeStream,
  judgeStructured,
  judgeSystem,
  judgeText,
  judgeUsage,
  stopAsk,
  system,
  unknown,
} from './judge.ts'
import { hello } from './samples.ts'

const weather = 'What is the weather in Paris? Call get_weather.'
const oneTool: Ask = asks(weather, { tools: ['get_weather'], choice: { only: 'get_weather' } })
const reasoning = 'How many prime numbers are there between 10 and 40? Think, then answer with the number.'

/**
 * The requests that every format supports, in the order in which integrators try them: one simple request,
 * streaming, tools, then the rest. `usageInStream` contains the members that make a stream report its usage.
 */
export function features(usageInStream: Ask['extra'] = {}): Check[] {
  return [
    { name: 'simple request', isMust: true, ask: () => asks(hello), judge: judgeText },
    { name: 'error envelope', isMust: true, isRefusalRight: true, ask: () => asks(hello) },
    {
      name: 'streaming',
      isMust: true,
      ask: () => asks('Count from one to ten in words.', { isStream: true }),
      judge: judgeStream,
    },
    {
      name: 'usage in stream',
      ask: () => asks(hello, { isStream: true, extra: usageInStream }),
      judge: judgeUsage,
      fields: ['stream_options'],
    },
    {
      name: 'tools',
      ask: () => oneTool,
      judge: (reply) => judgeCalls(reply, 1),
      fields: ['tools', 'tool_choice'],
    },
    {
      name: 'tools in stream',
      ask: () => ({ ...oneTool, isStream: true }),
      judge: (reply) => judgeCalls(reply, 1),
      fields: ['tools', 'tool_choice'],
    },
    {
      name: 'parallel tools',
      ask: () => bothTools,
      judge: (reply) => judgeCalls(reply, 2),
      fields: ['tools'],
    },
    {
      name: 'parallel tools in stream',
      ask: () => ({ ...bothTools, isStream: true }),
      judge: (reply) => judgeCalls(reply, 2),
      fields: ['tools'],
    },
    { name: 'second tool turn', ask: secondTurn, judge: judgeSecondTurn, fields: ['tools'] },
    {
      name: 'structured output',
      ask: () => asks('Where is the Eiffel Tower? City and country.', { isStructured: true }),
      judge: judgeStructured,
      fields: ['response_format', 'text', 'output_config'],
    },
    { name: 'image input', ask: () => colour, judge: judgeImage, fields: ['messages', 'input'] },
    { name: 'document input', ask: () => document, judge: judgeDocument, fields: ['messages', 'input'] },
    {
      name: 'reasoning',
      ask: () => asks(reasoning, { reasoning: 'usual' }),
      instead: () => asks(reasoning, { reasoning: 'other' }),
      judge: judgeReasoning,
      fields: ['reasoning_effort', 'reasoning', 'thinking'],
    },
    {
      name: 'second turn after reasoning',
      ask: (known) => secondThought(known, 'usual'),
      instead: (known) => secondThought(known, 'other'),
      judge: judgeText,
      fields: ['reasoning_effort', 'reasoning', 'thinking'],
    },
    { name: 'system prompt', ask: () => system, judge: judgeSystem, fields: ['system', 'instructions'] },
  ]
}

/** Only for formats that support stop sequences. */
export const stop: Check = {
  name: 'stop',
  ask: () => stopAsk,
  judge: judgeStop,
  fields: ['stop', 'stop_sequences'],
}

/** Sends back a call from an earlier response together with its result. */
function secondTurn(known: Known): Ask | CheckFinding {
  const first = known.get('parallel tools') ?? known.get('tools')
  const called = first?.calls.length ? first : known.get('tools')
  if (called === undefined || called.calls.length === 0)
    return unknown('not checked: no response contained a call')
  const turns: CheckTurn[] = [
    ...bothTools.turns,
    { role: 'assistant', raw: called.raw },
    {
      role: 'tool',
      results: called.calls.map(({ id }) => ({ id, output: 'Sunny, 21 degrees, ten past nine' })),
    },
  ]
  return { turns, tools: ['get_weather', 'get_time'] }
}

/** Sends back a response with its reasoning, whose signatures the server must recognise. */
function secondThought(known: Known, how: 'usual' | 'other'): Ask | CheckFinding {
  const first = known.get('reasoning')
  if (first === undefined) return unknown('not checked: no response contained reasoning')
  return {
    turns: [
      { role: 'user', text: reasoning },
      { role: 'assistant', raw: first.raw },
      { role: 'user', text: 'And how many of them end with the digit 3?' },
    ],
    reasoning: how,
  }
}

/** Checks one optional parameter. Without `judge`, it only checks that the parameter is accepted. */
export function parameter(
  name: string,
  extra: Readonly<Record<string, unknown>>,
  more: { ask?: Ask; judge?: Check['judge']; fields?: readonly string[] } = {},
): Check {
  const { ask = asks(hello), judge, fields = [name] } = more
  return {
    name,
    ask: () => ({ ...ask, extra }),
    fields,
    ...(judge === undefined ? {} : { judge }),
  }
}
