import { createHash } from 'node:crypto'
import { isRecord, type Json, recordsOf } from './json.ts'
import { sampleOf } from './sample.ts'

/** One answer of the demo channel: text in pieces of a token each, or tool calls. */
export interface Answer {
  pieces: string[]
  calls: ToolCall[]
  finishReason: 'stop' | 'length' | 'tool_calls'
  tokens: number
}

export interface ToolCall {
  name: string
  /** The call as it stands in a whole message. */
  wire: { id: string; type: 'function' | 'custom' } & Json
  /** The member that holds the text of the call, `arguments` or `input`, and that text in pieces. */
  textKey: 'arguments' | 'input'
  pieces: string[]
}

/** A request that the demo channel cannot answer. */
export class DemoRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The answers to a `/chat/completions` body, `n` of them. Pure. Throws DemoRefusal. */
export function answersTo(body: Json): Answer[] {
  const messages = recordsOf(body.messages)
  if (messages.length === 0) throw new DemoRefusal(400, 'messages: expected a non-empty array')
  const choices = typeof body.n === 'number' ? body.n : 1
  if (!Number.isInteger(choices) || choices < 1 || choices > 128) {
    throw new DemoRefusal(400, 'n: expected an integer from 1 to 128')
  }
  return Array.from({ length: choices }, (_, index) => answerTo(body, messages, index))
}

function answerTo(body: Json, messages: Json[], index: number): Answer {
  const calls = callsFor(body, messages, index)
  if (calls.length > 0) {
    const tokens = calls.reduce((sum, call) => sum + 1 + call.pieces.length, 0)
    return { pieces: [], calls, finishReason: 'tool_calls', tokens }
  }
  const text = cutAtStop(textFor(body, messages), body.stop)
  const pieces = text.match(/\s*\S{1,12}|\s+$/g) ?? []
  const tokensMax = limitOf(body)
  const isCut = pieces.length > tokensMax
  const kept = isCut ? pieces.slice(0, tokensMax) : pieces
  return { pieces: kept, calls: [], finishReason: isCut ? 'length' : 'stop', tokens: kept.length }
}

function textFor(body: Json, messages: Json[]): string {
  const schema = schemaOf(body.response_format)
  if (schema !== undefined) return JSON.stringify(sampleOf(schema))
  const results = toolResults(messages)
  const label = 'This is the demo channel of Tollgate; no model is behind it.'
  const reply =
    results.length > 0
      ? `The tools answered: ${results.join('; ')}`
      : `You said: "${shorten(lastUserText(messages))}"`
  return isRecord(body.response_format) && body.response_format.type === 'json_object'
    ? JSON.stringify({ note: label, reply })
    : `${label} ${reply}`
}

/** The schema of a `json_schema` format; undefined for other formats. */
function schemaOf(format: unknown): unknown {
  if (!isRecord(format) || format.type !== 'json_schema') return undefined
  return (isRecord(format.json_schema) ? format.json_schema.schema : undefined) ?? {}
}

/** Tools are called when the choice demands it, or when the user's last text names them; never right after a result. */
function callsFor(body: Json, messages: Json[], index: number): ToolCall[] {
  const tools = recordsOf(body.tools)
  const choice = body.tool_choice ?? 'auto'
  if (tools.length === 0 || choice === 'none' || toolResults(messages).length > 0) return []

  const usable = toolsAllowed(tools, choice)
  const forced = isRecord(choice) && choice.type !== 'allowed_tools'
  const mode = isRecord(choice) && isRecord(choice.allowed_tools) ? choice.allowed_tools.mode : choice
  const text = lastUserText(messages)
  const named = forced ? usable : usable.filter((tool) => mentions(text, nameOf(tool)))
  const picked = named.length > 0 ? named : mode === 'required' ? usable.slice(0, 1) : []
  const calls = body.parallel_tool_calls === false ? picked.slice(0, 1) : picked
  return calls.map((tool, at) => callOf(tool, text, `${index}.${at}.${messages.length}`))
}

function toolsAllowed(tools: Json[], choice: unknown): Json[] {
  if (!isRecord(choice)) return tools
  const listed = isRecord(choice.allowed_tools) ? recordsOf(choice.allowed_tools.tools) : [choice]
  const names = listed.map(nameOf)
  const found = tools.filter((tool) => names.includes(nameOf(tool)))
  if (found.length === 0) throw new DemoRefusal(400, `tool_choice: no tool is called ${names.join(', ')}`)
  return found
}

function callOf(tool: Json, text: string, seed: string): ToolCall {
  const name = nameOf(tool)
  const id = `call_demo_${createHash('sha256').update(`${seed} ${name} ${text}`).digest('hex').slice(0, 20)}`
  if (tool.type === 'custom') {
    const input = shorten(text)
    const wire = { id, type: 'custom' as const, custom: { name, input } }
    return { name, wire, textKey: 'input', pieces: inPieces(input) }
  }
  const args = JSON.stringify(sampleOf(isRecord(tool.function) ? tool.function.parameters : undefined))
  const wire = { id, type: 'function' as const, function: { name, arguments: args } }
  return { name, wire, textKey: 'arguments', pieces: inPieces(args) }
}

function nameOf(tool: Json): string {
  const inner = tool.type === 'custom' ? tool.custom : tool.function
  return isRecord(inner) && typeof inner.name === 'string' ? inner.name : ''
}

function mentions(text: string, name: string): boolean {
  const at = name === '' ? -1 : text.indexOf(name)
  return at !== -1 && !/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(at + name.length))
}

/** Contents of the tool messages that end the conversation. */
function toolResults(messages: Json[]): string[] {
  const before = messages.findLastIndex((message) => message.role !== 'tool' && message.role !== 'function')
  return messages.slice(before + 1).map((message) => shorten(textOf(message.content)))
}

function lastUserText(messages: Json[]): string {
  return textOf(messages.findLast((message) => message.role === 'user')?.content)
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const texts = recordsOf(content).map((part) =>
    typeof part.text === 'string' ? part.text : `[${part.type}]`,
  )
  return texts.join(' ')
}

function limitOf(body: Json): number {
  const limits = [body.max_completion_tokens, body.max_tokens].filter((limit) => typeof limit === 'number')
  return limits.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...limits)
}

function cutAtStop(text: string, stop: unknown): string {
  const stops = (Array.isArray(stop) ? stop : [stop]).filter(
    (word) => typeof word === 'string' && word !== '',
  )
  const ends = stops.map((word) => text.indexOf(word)).filter((at) => at !== -1)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}

function inPieces(text: string): string[] {
  return text.match(/.{1,8}/gsu) ?? []
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length <= 400 ? text : `${characters.slice(0, 400).join('')}…`
}
