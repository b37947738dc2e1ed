import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Block, ChatRequest, Turn } from '../../src/canonical/chat.ts'
import { isRecord } from '../../src/canonical/json.ts'
import { type CollectedAnswer, collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { gemini } from '../../src/protocols/gemini/index.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
})
afterAll(() => vendor.close())

const model = 'demo-chat'
const post = async (path: string, body: unknown) =>
  fetch(`${vendor.url}/v1beta${path}`, { method: 'POST', body: JSON.stringify(body) })

/** A request of any client, sent to the strict vendor through the Gemini protocol and read back. */
async function ask(
  more: Partial<ChatRequest> & Pick<ChatRequest, 'turns' | 'stream'>,
): Promise<CollectedAnswer> {
  const side = gemini.upstream
  if (side === undefined) throw new Error('no upstream side')
  const request: ChatRequest = { ...plain, ...more }
  const { body, tools } = side.encodeRequest(request, {
    upstreamModel: model,
    traits: {},
    maxOutputTokensDefault: 4096,
  })
  const response = await post(side.path({ model, stream: request.stream }), body)
  if (!response.ok) throw side.decodeError(response.status, {}, Buffer.from(await response.arrayBuffer()))
  const context = { upstreamModel: model, tools }
  if (!request.stream) {
    const whole: unknown = await response.json()
    return collect(side.decodeResponse(isRecord(whole) ? whole : {}, context))
  }
  const decoder = new SseDecoder(side.decodeStream(context), 1_000_000)
  return collect([...decoder.push(Buffer.from(await response.arrayBuffer())), ...decoder.end()])
}

const plain: Omit<ChatRequest, 'turns' | 'stream'> = {
  model,
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
  names: {},
}
const path = 'p'
const turn = (role: Turn['role'], ...blocks: Block[]): Turn => ({ role, blocks, path })
const text = (words: string): Block => ({ type: 'text', text: words, path })
const tool = (name: string) => ({
  type: 'function' as const,
  name,
  description: undefined,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: undefined,
  path,
})

/** What a client sends back after an answer. */
function replay({ blocks }: CollectedAnswer): Block[] {
  return blocks.map(({ block, text: words, signature }): Block => {
    switch (block.type) {
      case 'text':
      case 'refusal':
        return { type: block.type, text: words, path }
      case 'reasoning':
        return { type: 'reasoning', text: words, summary: block.summary, signature, path }
      case 'web-search':
        throw new Error('nobody asked for a search')
      default:
        return { ...block, input: words, path }
    }
  })
}

describe('the Gemini protocol and the strict vendor', () => {
  it('run a loop of three turns with two parallel tools and thinking, streamed or not', async () => {
    for (const stream of [false, true]) {
      const settings = {
        stream,
        tools: [tool('get_weather'), tool('get_time')],
        reasoning: { effort: 'high' as const, budgetTokens: undefined, summary: 'auto' },
      }
      const turns = [turn('system', text('Be kind.')), turn('user', text('get_weather and get_time'))]
      const first = await ask({ ...settings, turns })
      expect(first.finish.reason).toBe('tool_calls')
      expect(first.usage?.reasoning).toBeGreaterThan(0)
      const calls = first.blocks.flatMap(({ block }) => (block.type === 'tool-call' ? [block] : []))
      expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time'])
      expect(first.blocks[0]?.text).toContain('The strict vendor thinks')

      const results = calls.map(
        ({ id }, at): Block => ({
          type: 'tool-result',
          callId: id,
          content: [{ type: 'text', text: `result ${at}`, path }],
          isError: at === 1,
          path,
        }),
      )
      turns.push(turn('assistant', ...replay(first)), turn('user', ...results))
      const second = await ask({ ...settings, turns })
      const answerText = second.blocks.find(({ block }) => block.type === 'text')?.text
      expect(answerText).toMatch(
        /The tools answered: result 0; error: result 1 It knows 1 of its thoughts again/,
      )

      turns.push(turn('assistant', ...replay(second)), turn('user', text('Thanks')))
      const third = await ask({ ...settings, turns })
      expect(third.finish.reason).toBe('stop')
      expect(third.blocks.find(({ block }) => block.type === 'text')?.text).toContain(
        'It knows 2 of its thoughts again',
      )
    }
  })

  it('survive a client that drops every thought', async () => {
    const settings = { stream: false, tools: [tool('get_weather')] }
    const turns = [turn('user', text('get_weather'))]
    const first = await ask({ ...settings, turns })
    const kept = replay(first).filter(({ type }) => type !== 'reasoning')
    const id = kept[0]?.type === 'tool-call' ? kept[0].id : ''
    const result: Block = { type: 'tool-result', callId: id, content: [], isError: false, path }
    const second = await ask({
      ...settings,
      turns: [...turns, turn('assistant', ...kept), turn('user', result)],
    })
    expect(second.finish.reason).toBe('stop')
  })

  it('carry images and ask for JSON', async () => {
    const image: Block = {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      path,
    }
    const seen = await ask({ stream: false, turns: [turn('user', image, text('What is it?'))] })
    expect(seen.blocks.find(({ block }) => block.type === 'text')?.text).toContain(
      '[image: image/png, 8 bytes] What is it?',
    )
    const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 3 } } }
    const format = { type: 'json_schema' as const, name: 'p', description: undefined, schema, strict: true }
    const json = await ask({ stream: true, turns: [turn('user', text('hi'))], format })
    expect(JSON.parse(json.blocks.find(({ block }) => block.type === 'text')?.text ?? '')).toEqual({ age: 3 })
  })

  it('keep the upstream’s own words of a refusal', async () => {
    const turns = [turn('user', text('hi'))]
    await expect(ask({ stream: false, turns, temperature: 5 })).rejects.toMatchObject({
      kind: 'invalid_request',
      message: 'generationConfig.temperature: expected a number from 0 to 2',
    })
  })
})
