import { expect, test } from 'vitest'
import { legalCallId } from '../../src/protocols/call-ids.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'

const names = () => new ToolNames({ illegal: /[^a-zA-Z0-9_-]/, charactersMax: 64 })
const plain = (name: string) => ({ name, kind: 'function' as const })

test('a legal name stays, an illegal or long one changes the same way each time, and all are restored', () => {
  const tools = names()
  const long = 'a'.repeat(100)
  for (const tool of [plain('get_weather'), plain('files.read/all'), plain(long), plain(`${long}b`)]) {
    const wireName = tools.wireName(tool, 'tools[0]')
    expect(wireName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(names().wireName(tool, 'elsewhere')).toBe(wireName)
    expect(tools.clientTool(wireName)).toEqual(tool)
  }
  expect(tools.wireName(plain('get_weather'), 'messages[3]')).toBe('get_weather')
})

test('a tool in a namespace has one combined name upstream, and gets both names back', () => {
  const tools = names()
  const tool = { name: 'read', namespace: 'files', kind: 'custom' as const }
  expect(tools.wireName(tool, 'tools[0]')).toBe('files__read')
  expect(tools.clientTool('files__read')).toEqual(tool)
})

test('a call gives its tool, and nothing else of the call', () => {
  const tools = names()
  const call = {
    type: 'tool-call',
    id: 'call_1',
    ...plain('read'),
    input: '{}',
    path: 'messages[1]',
  } as const
  tools.wireName(call, call.path)
  expect(tools.clientTool('read')).toEqual(plain('read'))
})

test('two tools that would get the same name upstream are refused by name', () => {
  const tools = names()
  tools.wireName(plain('files.read'), 'tools[0].name')
  expect(() => tools.wireName(plain('files/read'), 'tools[1].name')).toThrow(
    expect.objectContaining({
      kind: 'invalid_request',
      field: 'tools[1].name',
      message: expect.stringContaining('"files.read" and "files/read"'),
    }),
  )
})

test('a name that an upstream invented stays as it is', () => {
  expect(names().clientTool('hallucinated')).toEqual(plain('hallucinated'))
})

test('a legal call id stays, and an illegal one becomes the same legal one in call and result', () => {
  const rules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 40 }
  expect(legalCallId('call_1', rules)).toBe('call_1')
  for (const id of ['', 'call 1', 'x'.repeat(41)]) {
    expect(legalCallId(id, rules)).toMatch(/^call_[0-9a-f]{24}$/)
    expect(legalCallId(id, rules)).toBe(legalCallId(id, rules))
  }
  expect(legalCallId('a b', rules)).not.toBe(legalCallId('a.b', rules))
})
