import { expect, test } from 'vitest'
import { refusesSealed, withoutSealed } from '../../src/protocols/sealed-reasoning.ts'

const user = '{"role":"user","content":"hi"}'
const number = '"x":12345678901234567890.0'
const item = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}'
const open = '{"type":"reasoning","id":"rs_1","summary":[]}'
const thought = '{"type":"thinking","thinking":"x","signature":"EqQB"}'
const hidden = '{"type":"redacted_thinking","data":"EqQB"}'
const text = '{"type":"text","text":"[{\\"type\\":\\"thinking\\"}]"}'
const turn = (content: string, more = '') => `{"role":"assistant","content":${content}${more}}`
const inChat = (...messages: string[]) => `{${number},"messages":[${messages.join(', ')}]}`

test.each([
  ['an item', `{"input":[${user}, ${item}, ${user}]}`, `{"input":[${user}, ${user}]}`],
  ['the first items', `{"input":[${item},${item},${user}]}`, `{"input":[${user}]}`],
  ['the last items', `{"input":[${user} ,${item},${item} ] ,${number}}`, `{"input":[${user}  ] ,${number}}`],
  ['every item', `{"input": [ ${item} ],${number}}`, `{"input": [],${number}}`],
  ['blocks', inChat(user, turn(`[${thought}, ${text},${hidden}]`)), inChat(user, turn(`[ ${text}]`))],
  [
    'a message of them',
    inChat(turn(`[${thought}]`), user, turn(`[${hidden}]`)),
    inChat(user).replace('[', '[ '),
  ],
  [
    'members of Chat messages',
    inChat(turn('"yo"', ',"reasoning_details":[{"type":"reasoning.encrypted","data":"E"}],"reasoning":"r"')),
    inChat(turn('"yo"', ',"reasoning":"r"')),
  ],
  ["LiteLLM's", inChat(turn('null', `,"thinking_blocks":[${thought}]`)), inChat(turn('null'))],
  [
    'signatures of Gemini',
    '{"contents":[{"parts":[{"functionCall":{"name":"f"},"thoughtSignature":"CiQ="}]}]}',
    '{"contents":[{"parts":[{"functionCall":{"name":"f"},"thoughtSignature":"skip_thought_signature_validator"}]}]}',
  ],
])('what a vendor sealed is left out, and no other byte changes: %s', (_name, before, after) => {
  expect(withoutSealed(Buffer.from(before))?.toString()).toBe(after)
  expect(withoutSealed(Buffer.from(after))).toBeUndefined()
})

test.each([
  `{"input":"reasoning"}`,
  `{"input":[${open},${user}]}`,
  '{"input":[{"type":"reasoning","encrypted_content":null}]}',
  inChat(user, turn(`[${text}]`), turn('[]'), '"no object"'),
  '{"messages":{}}',
  '{}',
])('a request without any has no other form: %s', (body) => {
  expect(withoutSealed(Buffer.from(body))).toBeUndefined()
})

test.each([
  ['x', 'invalid_encrypted_content', true],
  ['The encrypted content gAAA could not be verified.', undefined, true],
  ['messages.1.content.0: Invalid `signature` in `thinking` block', undefined, true],
  ['Thought signature is not valid', undefined, true],
  ['Corrupted thought signature.', undefined, true],
  ['Encrypted content is not supported with this model.', undefined, false],
  ['max_tokens must be greater than thinking.budget_tokens', undefined, false],
  ['Invalid value for temperature', undefined, false],
] as const)('%s (%s) refuses sealed reasoning: %s', (message, code, is) => {
  expect(refusesSealed({ message, code })).toBe(is)
})
