import { type Demo, startDemo } from 'tollgate-demo/server.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { inputs, notingFetch, runTool } from '../support/loop.ts'
import { aiChatLoop, aiMessagesLoop, aiResponsesLoop } from '../support/loop-ai.ts'
import { messagesLoop } from '../support/loop-anthropic.ts'
import { chatLoop, responsesLoop } from '../support/loop-openai.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** The vendors' own clients run a tool loop against the demo through the gateway, passed through and translated. */

const protocols = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']

let demo: Demo
let bed: Testbed

beforeAll(async () => {
  demo = await startDemo({ eventDelayMs: 0 })
  bed = await startTestbed({ yaml: () => yaml(demo.url) })
})
afterAll(async () => {
  await bed.close()
  await demo.close()
})

describe.each([
  ['openai chat.completions', chatLoop],
  ['openai responses', responsesLoop],
  ['@anthropic-ai/sdk messages', messagesLoop],
  ['ai with openai.chat', aiChatLoop],
  ['ai with openai.responses', aiResponsesLoop],
  ['ai with anthropic', aiMessagesLoop],
] as const)('%s', (_name, loop) => {
  test.each(protocols.flatMap((protocol) => [false, true].map((stream) => ({ protocol, stream }))))(
    'calls a tool of the demo by $protocol and gets its result back, streamed: $stream',
    async ({ protocol, stream }) => {
      const { fetch, requestIds } = notingFetch()
      const turns = await loop({ origin: bed.tollgate.url, apiKey: freeKey, model: protocol, stream, fetch })
      const call = { id: expect.any(String), name: 'get_weather', input: inputs.get_weather }
      expect(turns[0]?.calls).toEqual([call])
      expect(turns[1]?.calls).toEqual([])
      expect(turns[1]?.text).toContain(`The tools answered: `)
      expect(turns[1]?.text.replaceAll('\\', '')).toContain(runTool('get_weather', inputs.get_weather))
      for (const id of requestIds) {
        const row = await bed.row(id)
        expect(row).toMatchObject({
          status: 200,
          outcome: 'succeeded',
          channel: protocol,
          usage_source: 'upstream',
        })
      }
    },
  )
})

function yaml(origin: string): string {
  const bases = [`${origin}/v1`, `${origin}/v1`, origin, `${origin}/v1beta`]
  const channels = protocols.map(
    (protocol, at) =>
      `  - { name: ${protocol}, protocols: { ${protocol}: ${bases[at]} }, api_keys: [demo-credential-0001], models: { ${protocol}: demo-chat }, allow_private_address: true }`,
  )
  return `
models:
${protocols.map((protocol) => `  - { id: ${protocol}, context_length: 100000, max_output_tokens: 16384 }`).join('\n')}
channels:
${channels.join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}
