import type { Block, ChatRequest, FunctionTool, ToolCallBlock, Turn } from '../../src/canonical/chat.ts'
import type { Json } from '../../src/canonical/json.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { encodeRequest } from '../../src/protocols/anthropic-messages/encode-request.ts'

/** Canonical requests for tests of the Messages upstream. */

export const context = { upstreamModel: 'claude-x', traits: {}, maxOutputTokensDefault: 8192 }
export const weather: FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: undefined,
  path: 'tools[0]',
}

export function encode(members: Partial<ChatRequest>, traits: Traits = {}) {
  const request = { ...plain, ...members }
  return encodeRequest({ ...request, turns: placed(request.turns) }, { ...context, traits })
}

/** Gives paths to the turns and blocks that have none. */
function placed(turns: readonly Turn[]): Turn[] {
  return turns.map(({ role, blocks, path }, at) => ({
    role,
    path: path || `messages[${at}]`,
    blocks: blocks.map((block, n) => ({ ...block, path: block.path || `messages[${at}].content[${n}]` })),
  }))
}

export function actions(notes: readonly { action: string; path: string }[]): string[] {
  return notes.map(({ action, path }) => `${action} ${path}`)
}

export const plain: ChatRequest = {
  model: 'public',
  stream: false,
  turns: [turn('user', 'Hi')],
  tools: [],
  toolChoice: undefined,
  parallelToolCalls: undefined,
  maxOutputTokens: undefined,
  choices: 1,
  temperature: undefined,
  topP: undefined,
  topK: undefined,
  seed: undefined,
  frequencyPenalty: undefined,
  presencePenalty: undefined,
  logitBias: undefined,
  stop: [],
  logprobs: undefined,
  reasoning: undefined,
  format: undefined,
  verbosity: undefined,
  userId: undefined,
  metadata: undefined,
  serviceTier: undefined,
  store: undefined,
  cacheKey: undefined,
  unmapped: [],
  names: { maxOutputTokens: 'max_tokens', reasoning: 'reasoning_effort' },
}

export function turn(role: Turn['role'], ...blocks: (Block | string)[]): Turn {
  return {
    role,
    path: '',
    blocks: blocks.map((block) =>
      typeof block === 'string' ? { type: 'text', text: block, path: '' } : block,
    ),
  }
}

export function call(id: string): ToolCallBlock {
  return { type: 'tool-call', id, name: 'weather', kind: 'function', input: '{"city":"Oslo"}', path: '' }
}

export function result(callId: string, words: string): Block {
  return {
    type: 'tool-result',
    callId,
    content: [{ type: 'text', text: words, path: '' }],
    isError: false,
    path: '',
  }
}

export function text(words: string): Json {
  return { type: 'text', text: words }
}
