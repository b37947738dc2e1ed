import { expect, test } from 'vitest'
import { hostedWorkIn } from '../../src/bodies/hosted-work.ts'

const workOf = (body: unknown) => hostedWorkIn(Buffer.from(JSON.stringify(body)))
const none = { searchesWeb: false, compacts: false, asksAdvisor: false }

test.each([
  ['Messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['Responses', { tools: [{ type: 'web_search' }] }],
  ['a dated Responses', { tools: [{ type: 'web_search_2025_08_26' }] }],
  ['an older Responses', { tools: [{ type: 'web_search_preview_2025_03_11' }] }],
  ['Chat', { web_search_options: {} }],
  ['Gemini', { tools: [{ googleSearch: {} }] }],
  ['Gemini in snake case', { tools: [{ google_search: {} }] }],
  ['an older Gemini', { tools: [{ googleSearchRetrieval: {} }] }],
])('a request of %s that may search the web is known by its bytes', (_, body) => {
  expect(workOf(body)).toEqual({ ...none, searchesWeb: true })
  const spaced = Buffer.from(JSON.stringify(body, null, 2).replaceAll(':', ' : '))
  expect(hostedWorkIn(spaced)).toEqual({ ...none, searchesWeb: true })
})

test('so is one that compacts or asks an advisor', () => {
  const edits = [{ type: 'compact_20260112' }]
  expect(workOf({ context_management: { edits } })).toEqual({ ...none, compacts: true })
  expect(workOf({ tools: [{ type: 'advisor_20260301', model: 'claude-opus-5' }] })).toEqual({
    ...none,
    asksAdvisor: true,
  })
})

test('a function of the client, and text that quotes such a request, are not', () => {
  const tools = [
    { type: 'function', name: 'web_search' },
    { name: 'web_search', input_schema: { type: 'object' } },
  ]
  const quoted = JSON.stringify({
    tools: [{ type: 'web_search' }, { googleSearch: {} }],
    web_search_options: {},
  })
  expect(workOf({ tools, messages: [{ role: 'user', content: quoted }] })).toEqual(none)
  expect(workOf({ messages: [{ role: 'user', content: JSON.stringify(quoted) }] })).toEqual(none)
  // The results of earlier searches.
  expect(workOf({ content: [{ type: 'web_search_tool_result' }, { type: 'web_search_call' }] })).toEqual(none)
})

test('escaped letters hide nothing', () => {
  expect(hostedWorkIn(Buffer.from('{"tools":[{"type":"\\u0077eb_search"}]}')).searchesWeb).toBe(true)
  expect(hostedWorkIn(Buffer.from('{"tools":[{"type":"web\\u005Fsearch"}]}')).searchesWeb).toBe(true)
  expect(hostedWorkIn(Buffer.from('{"tools":[{"type":"web_search_2025030\\u0035"}]}')).searchesWeb).toBe(true)
  // Go escapes these, Python these, and a client that quotes source code sends such text.
  expect(hostedWorkIn(Buffer.from('{"text":"\\u003cb\\u003e \\u0026 \\u00e9 \\u007f \\u4e2d"}'))).toEqual(
    none,
  )
  expect(workOf({ text: 'const a = "\\u0061"' })).toEqual(none)
  expect(workOf({ text: 'é \u0001 \u001f' })).toEqual(none)
})
