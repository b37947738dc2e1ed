import { expect, test } from 'vitest'
import { clientSide } from '../../src/protocols/index.ts'
import { chanceOf, type Session, scoreOf, sessionOf } from '../../src/routing/session.ts'

const bounds = { jsonDepthMax: 64, jsonValuesMax: 100_000 }
const tenant = '019f0000-0000-7000-8000-000000000001'

function find(
  body: object,
  {
    headers = {},
    as = 'openai-chat',
    of = tenant,
  }: { headers?: Record<string, string>; as?: Parameters<typeof clientSide>[0]; of?: string } = {},
): Session | undefined {
  const raw = Buffer.from(JSON.stringify(body))
  return sessionOf(of, headers, raw, clientSide(as).readRequest(raw, bounds))
}

const user = (content: unknown) => ({ role: 'user', content })
const chat = (...turns: unknown[]) => ({ model: 'm', messages: turns })

test('a session stays the same while its conversation grows, and when other members change', () => {
  const first = find(chat({ role: 'system', content: 'Be brief.' }, user('Hi')))
  expect(first).toBeDefined()
  const later = chat(
    { role: 'system', content: 'Be brief.' },
    user('Hi'),
    { role: 'assistant', content: 'Hello' },
    user('And now?'),
  )
  expect(find(later)).toEqual(first)
  expect(find({ ...later, temperature: 1, stream: true })).toEqual(first)
  expect(find(chat(user('Hi there')))).not.toEqual(first)
})

const contentFirst = (content: unknown, role = 'user') => ({ content, role })

test.each([
  ['role first', (role: string, content: unknown) => ({ role, content })],
  ['content first', (role: string, content: unknown) => ({ content, role })],
  [
    'with other members around',
    (role: string, content: unknown) => ({ id: 'a', content, role, name: 'Ada' }),
  ],
])(
  'the first turn of the user identifies a conversation, in any order of its members: %s',
  (_order, turn) => {
    const system = turn('system', 'Say "user" and {"role":"user"} and \\\\ to nobody. '.repeat(9))
    const parts = [
      { type: 'text', text: 'Who was "Ada"?', role: 'user' },
      { type: 'text', text: '{[' },
    ]
    const first = find(chat(system, turn('user', parts)))
    expect(first).toBeDefined()
    const answer = turn('assistant', 'A mathematician.')
    expect(find(chat(system, turn('user', parts), answer, turn('user', 'And then?')))).toEqual(first)
    expect(find(chat(system, turn('user', [...parts, { type: 'text', text: '!' }])))).not.toEqual(first)
    const others = ['Hi', 'Ho', 'What?', '"', '\\'].map((words) => find(chat(system, turn('user', words))))
    expect(new Set([first, ...others]).size).toBe(6)
  },
)

test('if the first turn is longer than the read part, its beginning identifies the conversation', () => {
  const long = 'x"'.repeat(20_000)
  const first = find(chat(user(`one ${long}`)))
  expect(first).toBeDefined()
  expect(find(chat(user(`two ${long}`)))).not.toEqual(first)
  expect(find(chat(user(`one ${long}`), { role: 'assistant', content: 'Yes.' }))).toEqual(first)
  // The role comes too late, after the read part.
  expect(find(chat(contentFirst(long)))).toBeUndefined()
})

test('long first turns that differ only in length or end are different sessions', () => {
  const template = 'Classify the following text. '.repeat(200)
  const one = find(chat(user(`${template}A`)))
  expect(find(chat(user(`${template}B`)))).not.toEqual(one)
  expect(find(chat(user(`${template}AA`)))).not.toEqual(one)
  expect(find(chat(user(`${template}A`), { role: 'assistant', content: 'x' }))).toEqual(one)
})

test('the same words of two tenants are two sessions', () => {
  const other = '019f0000-0000-7000-8000-000000000002'
  expect(find(chat(user('Hi')), { of: other })).not.toEqual(find(chat(user('Hi'))))
})

test("the first of these names the session: our header, the body, an agent's header, the beginning of the conversation", () => {
  const named = { ...chat(user('Hi')), prompt_cache_key: 'cache-1' }
  const all = { 'x-tollgate-session': 'ours', session_id: 'codex' }
  const ours = find(named, { headers: all })
  expect(find(chat(user('else')), { headers: { 'x-tollgate-session': 'ours' } })).toEqual(ours)
  const byBody = find(named, { headers: { session_id: 'codex' } })
  expect(byBody).not.toEqual(ours)
  expect(find({ ...chat(user('else')), prompt_cache_key: 'cache-1' })).toEqual(byBody)
  const byAgent = find(chat(user('Hi')), { headers: { session_id: 'codex' } })
  for (const name of ['session-id', 'conversation_id', 'x-claude-code-session-id'])
    expect(find(chat(user('else')), { headers: { [name]: 'codex' } })).toEqual(byAgent)
  expect(byAgent).not.toEqual(find(chat(user('Hi'))))
})

test('each format has its own member for the session', () => {
  const responses = { model: 'm', input: 'Hi', prompt_cache_key: 'k' }
  expect(find(responses, { as: 'openai-responses' })).toEqual(
    find({ ...responses, input: 'x' }, { as: 'openai-responses' }),
  )
  const asked = { ...chat(user('Hi')), max_tokens: 9, metadata: { user_id: 'u', more: [1] } }
  expect(find(asked, { as: 'anthropic-messages' })).toEqual(
    find({ ...asked, messages: [user('x')] }, { as: 'anthropic-messages' }),
  )
  for (const metadata of ['u', { user_id: 7 }, {}, { user_id: '' }])
    expect(find({ ...asked, metadata }, { as: 'anthropic-messages' })).toEqual(
      find({ ...chat(user('Hi')), max_tokens: 9 }, { as: 'anthropic-messages' }),
    )
  const items = {
    model: 'm',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
  }
  const grown = { model: 'm', input: [...items.input, { type: 'message', role: 'assistant', content: [] }] }
  expect(find(grown, { as: 'openai-responses' })).toEqual(find(items, { as: 'openai-responses' }))
})

test("a conversation without a user's turn, or with a long text before it, has no session", () => {
  expect(find(chat({ role: 'system', content: 'x' }))).toBeUndefined()
  expect(find(chat({ role: 'system', content: 'x'.repeat(40_000) }, user('Hi')))).toBeUndefined()
})

test('many sessions are spread over the channels by weight', () => {
  const weights = { a: 1, b: 3, c: 6, never: 0 }
  const counts: Record<string, number> = { a: 0, b: 0, c: 0, never: 0 }
  const sessions = 10_000
  for (let i = 0; i < sessions; i++) {
    const session = find(chat(user('x')), { headers: { 'x-tollgate-session': `s${i}` } })
    if (session === undefined) throw new Error('no session')
    const [best] = Object.entries(weights).sort(
      ([a, x], [b, y]) => scoreOf(session, b, y) - scoreOf(session, a, x),
    )
    counts[best?.[0] ?? ''] = (counts[best?.[0] ?? ''] ?? 0) + 1
  }
  // Six standard deviations of a binomial distribution. The hash is the same in every run.
  for (const [name, weight] of Object.entries(weights)) {
    const share = weight / 10
    const bound = 6 * Math.sqrt(sessions * share * (1 - share))
    expect(Math.abs((counts[name] ?? 0) - sessions * share), name).toBeLessThanOrEqual(bound)
  }
})

test('a chance is above 0 and below 1, and the chances of two names are independent', () => {
  let sum = 0
  let together = 0
  for (let i = 0; i < 10_000; i++) {
    const session = i
    const chance = chanceOf(session, 'one')
    expect(chance).toBeGreaterThan(0)
    expect(chance).toBeLessThan(1)
    sum += chance
    together += (chance - 0.5) * (chanceOf(session, 'two') - 0.5)
  }
  expect(Math.abs(sum / 10_000 - 0.5)).toBeLessThan(0.02)
  expect(Math.abs(together / 10_000)).toBeLessThan(0.005)
})
