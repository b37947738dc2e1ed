import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FourUpstreams, startFourUpstreams, upstreamModels } from '../support/four-upstreams.ts'

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
}, 60_000)
afterAll(() => bed?.close())

test.each(upstreamModels)('a conversation over %s', async (model) => {
  const client: OpenAI = bed.openai()
  setTimeout(() => console.log(bed.tollgate.stdout().split('\n').filter((l) => l.includes('rror')).join('\n')), 300)
  const made = await client.conversations.create({
    metadata: { topic: 'x' },
    items: [{ role: 'user', content: 'I am Ada.' }],
  })
  expect(made).toMatchObject({ object: 'conversation' })
  const first = await client.responses.create({ model, input: 'Hello.', conversation: made.id })
  console.log(JSON.stringify(first))
  expect(first.conversation).toEqual({ id: made.id })
  const second = await client.responses.stream({ model, input: 'On.', conversation: { id: made.id } }).finalResponse()
  expect(second.conversation).toEqual({ id: made.id })
  const items = await client.conversations.items.list(made.id, { order: 'asc' })
  console.log(JSON.stringify(items.data, null, 1))
})
