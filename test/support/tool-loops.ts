import { expect } from 'vitest'
import { freeKey } from './gateway-yaml.ts'
import { imageWords, inputs, type Loop, questionAgain, runTool, type Turn } from './loop.ts'
import { aiChatLoop, aiCompatibleLoop, aiMessagesLoop, aiResponsesLoop } from './loop-ai.ts'
import { messagesLoop } from './loop-anthropic.ts'
import { chatLoop, responsesLoop } from './loop-openai.ts'

/** The vendors' own clients run tool loops through every pair of formats. The strict vendor plays all vendors. */

/** The format that each model's upstream speaks. */
export const loopUpstreams = {
  'via-chat': 'openai-chat',
  'via-responses': 'openai-responses',
  'via-messages': 'anthropic-messages',
  'via-gemini': 'gemini',
} as const
export type LoopModel = keyof typeof loopUpstreams

export interface LoopClient {
  loop: Loop
  protocol: string
  /** Its finish reasons for an answer with tool calls, and for the last answer. */
  finish: [string, string]
  showsReasoning: boolean
  /** Of the two thoughts that came with the calls, the number that the vendor recognises at the end. */
  recalled: Record<LoopModel, 0 | 2>
}

const all = { 'via-chat': 2, 'via-responses': 2, 'via-messages': 2, 'via-gemini': 2 } as const
/** The SDK keeps no reasoning, or only its text, which only one of the vendors can use. */
const none = { 'via-chat': 0, 'via-responses': 0, 'via-messages': 0, 'via-gemini': 0 } as const

export const loopClients: Record<string, LoopClient> = {
  'openai chat.completions': {
    loop: chatLoop,
    protocol: 'openai-chat',
    finish: ['tool_calls', 'stop'],
    showsReasoning: true,
    recalled: all,
  },
  'openai responses': {
    loop: responsesLoop,
    protocol: 'openai-responses',
    finish: ['completed', 'completed'],
    showsReasoning: true,
    recalled: all,
  },
  '@anthropic-ai/sdk messages': {
    loop: messagesLoop,
    protocol: 'anthropic-messages',
    finish: ['tool_use', 'end_turn'],
    showsReasoning: true,
    recalled: all,
  },
  'ai with openai.chat': {
    loop: aiChatLoop,
    protocol: 'openai-chat',
    finish: ['tool-calls', 'stop'],
    showsReasoning: false,
    recalled: none,
  },
  'ai with openai.responses': {
    loop: aiResponsesLoop,
    protocol: 'openai-responses',
    finish: ['tool-calls', 'stop'],
    showsReasoning: true,
    recalled: all,
  },
  'ai with anthropic': {
    loop: aiMessagesLoop,
    protocol: 'anthropic-messages',
    finish: ['tool-calls', 'stop'],
    showsReasoning: true,
    recalled: all,
  },
  'ai with openai-compatible': {
    loop: aiCompatibleLoop,
    protocol: 'openai-chat',
    finish: ['tool-calls', 'stop'],
    showsReasoning: true,
    recalled: { ...none, 'via-chat': 2 },
  },
}

export const loopModels = Object.keys(loopUpstreams) as LoopModel[]

/** The Messages vendor continues to think after tool results only if it gets its own thoughts back. */
export function thinksOnAfterTools(client: LoopClient, model: LoopModel): boolean {
  return model !== 'via-messages' || client.recalled[model] > 0
}

/** Three turns, whole: the calls side by side, their results, and the reasoning as far as the client keeps it. */
export function expectTurns(client: LoopClient, model: LoopModel, turns: readonly Turn[]): void {
  const [called, ended] = client.finish
  expect(turns.map(({ finish }) => finish)).toEqual([called, called, ended])
  const asked = Object.entries(inputs).map(([name, input]) => ({ id: expect.any(String), name, input }))
  expect(turns.map(({ calls }) => calls)).toEqual([asked, asked, []])
  expect(new Set(turns.flatMap(({ calls }) => calls.map(({ id }) => id))).size).toBe(4)
  expect(turns[0]?.text).toBe('')
  expect(turns[2]?.text).toContain(
    `The tools answered: ${asked.map(({ name, input }) => runTool(name, input)).join('; ')}`,
  )
  const recalled = /It knows (\d+) of its thoughts again/.exec(turns[2]?.text ?? '')?.[1] ?? 0
  expect(Number(recalled)).toBe(client.recalled[model])
  for (const { inputTokens, outputTokens } of turns) {
    expect(inputTokens).toBeGreaterThan(0)
    expect(outputTokens).toBeGreaterThan(0)
  }
  const thinksOn = thinksOnAfterTools(client, model)
  if (client.showsReasoning) {
    expect(turns[0]?.reasoning).toContain(imageWords)
    expect(turns[1]?.reasoning ?? '').toContain(thinksOn ? questionAgain : '')
    expect(turns[2]?.reasoning ?? '').toContain(thinksOn ? 'thinks in canned words' : '')
  }
}

/** One model for each format, and `freeKey`. */
export function loopYaml(origin: string): string {
  const bases: Record<LoopModel, string> = {
    'via-chat': `${origin}/v1`,
    'via-responses': `${origin}/v1`,
    'via-messages': origin,
    'via-gemini': `${origin}/v1beta`,
  }
  return `
models:
${loopModels.map((model) => `  - { id: ${model}, context_length: 100000, max_output_tokens: 16384 }`).join('\n')}
channels:
${loopModels
  .map(
    (model) =>
      `  - { name: ${model}, protocols: { ${loopUpstreams[model]}: ${bases[model]} }, api_keys: [demo-credential-0001], models: { ${model}: demo-${model} }, allow_private_address: true }`,
  )
  .join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}
