import type { ClientProtocol } from './clients.ts'

/** 80 KB of system and tools; each turn adds the agent's call of a tool and what the tool answered, 5 KB. */
export const turnCount = 56
/** The last tenth of the turns. */
export const lateTurns = 6

/** The body of each turn, from 0. */
export type Session = (turn: number) => Buffer

/**
 * Sessions of a coding agent, by their numbers: it sends its whole conversation at every turn, and only the end is new, so a
 * body begins with the bytes of the one before, but for the two that close it. Sessions share their tools, as those of one agent
 * do, and nothing after them: none continues an earlier one.
 */
export function conversationOf(protocol: ClientProtocol, model: string): (session: number) => Session {
  const { head, turn } = protocol === 'openai-chat' ? chat : messages
  const parts = [head(model)]
  for (let index = 1; index < turnCount; index++) parts.push(turn(index))
  const whole = Buffer.from(parts.join(''))
  let end = 0
  const ends = parts.map((part) => {
    end += Buffer.byteLength(part)
    return end
  })
  const nonceAt = whole.indexOf(noNonce)
  return (session) => {
    const own = Buffer.from(whole)
    own.write(String(session).padStart(noNonce.length, '0'), nonceAt, 'latin1')
    return (index) => Buffer.concat([own.subarray(0, ends[index]), closing])
  }
}

const closing = Buffer.from(']}')
const noNonce = '################'

const chat = {
  head(model: string): string {
    const tools = toolNames.map((name) => ({
      type: 'function',
      function: { name, description: toolText(name), parameters: toolSchema },
    }))
    const first = [
      { role: 'system', content: systemText },
      { role: 'user', content: question },
    ]
    return `${open({ model, max_tokens: 512, stream: true, tools })},"messages":[${joined(first)}`
  },
  turn(index: number): string {
    const called = {
      id: `call_${index}`,
      type: 'function',
      function: { name: toolNameOf(index), arguments: JSON.stringify(inputOf(index)) },
    }
    return `,${joined([
      { role: 'assistant', content: thoughtOf(index), tool_calls: [called] },
      { role: 'tool', tool_call_id: `call_${index}`, content: resultOf(index) },
    ])}`
  },
}

const messages = {
  head(model: string): string {
    const tools = toolNames.map((name) => ({ name, description: toolText(name), input_schema: toolSchema }))
    const system = [{ type: 'text', text: systemText }]
    const first = [{ role: 'user', content: question }]
    return `${open({ model, max_tokens: 512, stream: true, tools, system })},"messages":[${joined(first)}`
  },
  turn(index: number): string {
    const id = `toolu_${index}`
    const used = { type: 'tool_use', id, name: toolNameOf(index), input: inputOf(index) }
    const result = { type: 'tool_result', tool_use_id: id, content: resultOf(index) }
    return `,${joined([
      { role: 'assistant', content: [{ type: 'text', text: thoughtOf(index) }, used] },
      { role: 'user', content: [result] },
    ])}`
  },
}

const toolNames = Array.from({ length: 20 }, (_, index) => `tool_${index}`)
const toolNameOf = (index: number) => toolNames[index % toolNames.length] ?? ''
const toolText = (name: string) =>
  `${name} reads or changes files of the project.\n${'Give a "path" below its root, never one outside. '.repeat(22)}`
const toolSchema = {
  type: 'object',
  properties: Object.fromEntries(
    ['path', 'pattern', 'from', 'to'].map((name) => [
      name,
      { type: 'string', description: `The ${name}, as the "project" writes it: no spaces in front.` },
    ]),
  ),
  required: ['path'],
}
const systemText = `Session ${noNonce}. ${'You change code, and show "what" you did.\nRun the tests before you say that it works; never guess a name.\n'.repeat(414)}`
const question = 'Find why the request is slow, and mend it.'
const inputOf = (index: number) => ({
  path: `src/part-${index}.ts`,
  pattern: 'const \\w+ = "[a-z]+"',
  from: `${index}`,
})
const thoughtOf = (index: number) => `I look at part ${index} now: it calls what we saw before.`
const resultOf = (index: number) =>
  Array.from(
    { length: 75 },
    (_, line) => `${index * 100 + line}\tconst name${line} = take("value", ${line}) // é: see \\d+ above\n`,
  ).join('')

/** The text of an object that goes on. */
function open(members: object): string {
  return JSON.stringify(members).slice(0, -1)
}

function joined(values: readonly object[]): string {
  return JSON.stringify(values).slice(1, -1)
}
