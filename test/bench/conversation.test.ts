import { expect, test } from 'vitest'
import { type ClientProtocol, clients } from '../../bench/clients.ts'
import { conversationOf, lateTurns, turnCount } from '../../bench/conversation.ts'

const protocols = Object.keys(clients) as ClientProtocol[]

test.each(protocols)('each turn of a %s session begins with the bytes of the one before', (protocol) => {
  const bodyOf = conversationOf(protocol, 'burst-8')(1)
  for (let turn = 1; turn < turnCount; turn++) {
    const before = bodyOf(turn - 1).subarray(0, -2)
    expect(bodyOf(turn).subarray(0, before.length).equals(before)).toBe(true)
  }
})

test.each(protocols)('a %s session grows from 80 to 358 KB, by 5 KB a turn', (protocol) => {
  const bodyOf = conversationOf(protocol, 'burst-8')(1)
  const sizes = Array.from({ length: turnCount }, (_, turn) => bodyOf(turn).length / 1000)
  expect(sizes[0]).toBeCloseTo(80, -0.7)
  expect(sizes.at(-1)).toBeCloseTo(358, -1)
  sizes.slice(1).forEach((size, index) => {
    expect(size - (sizes[index] ?? 0)).toBeCloseTo(5, 0)
  })
  expect(sizes.at(-lateTurns)).toBeGreaterThan(330)
})

test.each(protocols)(
  'every turn of a %s session is valid JSON that ends with the user or a tool',
  (protocol) => {
    const bodyOf = conversationOf(protocol, 'burst-8')(1)
    for (const turn of [0, 1, turnCount - 1]) {
      const { model, messages } = JSON.parse(bodyOf(turn).toString())
      expect(model).toBe('burst-8')
      expect(messages.at(-1).role).toBe(turn > 0 && protocol === 'openai-chat' ? 'tool' : 'user')
    }
  },
)

test('two sessions share their tools and nothing after them', () => {
  const conversation = conversationOf('openai-chat', 'burst-8')
  const [one, other] = [conversation(1)(3), conversation(2)(3)]
  expect(one.length).toBe(other.length)
  const differs = one.findIndex((byte, index) => byte !== other[index])
  expect(JSON.parse(one.toString()).messages[0].content).toContain('0001')
  expect(differs).toBeLessThan(one.indexOf('You change code'))
})
