import { createHash } from 'node:crypto'
import { refuse } from './check.ts'
import type { Question, Tool } from './question.ts'
import { sampleOf } from './sample.ts'

/** One answer: text or tool calls. Pieces are of one token each. */
export interface Answer {
  /** Pieces of the thought; none when the client asks for no thought. */
  thought: string[]
  pieces: string[]
  calls: ToolCall[]
  end: 'stop' | 'stop_sequence' | 'length' | 'tool_calls'
  stopSequence: string | undefined
  /** Tokens of text and calls, without the thought. */
  tokens: number
}

export interface ToolCall {
  /** 20 hex digits; each format puts its own prefix before them. */
  hash: string
  tool: Tool
  /** The arguments in JSON, or the free text for a custom tool. */
  input: string
  /** The same in pieces. */
  pieces: string[]
}

/** As many answers as the question asks for. Pure. Throws Refusal. */
export function answersTo(question: Question): Answer[] {
  return Array.from({ length: question.choices }, (_, index) => answerTo(question, index))
}

const thoughtStart = 'The strict vendor thinks in canned words too.'

/** A text that the vendor thought. */
export function isThought(text: string): boolean {
  return text.startsWith(thoughtStart)
}

function answerTo(question: Question, index: number): Answer {
  // As with the real vendors, the bound holds for the thought and the text together.
  const thought = question.thinks
    ? inWords(`${thoughtStart} It was told: "${shorten(question.text)}"`).slice(0, question.tokensMax)
    : []
  const calls = callsFor(question, index)
  if (calls.length > 0) {
    const tokens = calls.reduce((sum, call) => sum + 1 + call.pieces.length, 0)
    return { thought, pieces: [], calls, end: 'tool_calls', stopSequence: undefined, tokens }
  }
  const { text, stopSequence } = cutAtStop(textFor(question), question.stop)
  const pieces = inWords(text)
  const tokensLeft = question.tokensMax - thought.length
  const isCut = pieces.length > tokensLeft
  const kept = isCut ? pieces.slice(0, tokensLeft) : pieces
  return {
    thought,
    pieces: kept,
    calls: [],
    end: isCut ? 'length' : stopSequence === undefined ? 'stop' : 'stop_sequence',
    stopSequence: isCut ? undefined : stopSequence,
    tokens: kept.length,
  }
}

function textFor({ format, heldText, results, text, thoughtsKnown }: Question): string {
  if (format.type === 'schema') return JSON.stringify(sampleOf(format.schema))
  const label = 'This is the strict vendor of these tests; no model is behind it.'
  const reply =
    results.length > 0
      ? `The tools answered: ${results.map(shorten).join('; ')}`
      : `You said: "${shorten(text)}"`
  const memory = thoughtsKnown === 0 ? '' : ` It knows ${thoughtsKnown} of its thoughts again.`
  const before = heldText === undefined ? '' : `Before you said: "${shorten(heldText)}". `
  return format.type === 'object'
    ? JSON.stringify({ note: label, reply })
    : `${before}${label} ${reply}${memory}`
}

/** The vendor calls tools that the choice demands or the user's last text names; never right after a tool result. */
function callsFor(question: Question, index: number): ToolCall[] {
  const { tools, choice, text, results } = question
  if (tools.length === 0 || choice.mode === 'none' || results.length > 0) return []
  const { only } = choice
  const usable = only === undefined ? tools : tools.filter((tool) => only.includes(tool.name))
  if (usable.length === 0) refuse(`tool_choice: no tool is called ${only?.join(', ')}`, 'tool_choice')
  const named = choice.isForced ? usable : usable.filter((tool) => mentions(text, tool.name))
  const picked = named.length > 0 ? named : choice.mode === 'required' ? usable.slice(0, 1) : []
  const calls = question.isParallel ? picked : picked.slice(0, 1)
  return calls.map((tool, at) => callOf(tool, text, `${index}.${at}.${question.turns}`))
}

function callOf(tool: Tool, text: string, seed: string): ToolCall {
  const hash = createHash('sha256').update(`${seed} ${tool.name} ${text}`).digest('hex').slice(0, 20)
  const input = tool.kind === 'custom' ? shorten(text) : JSON.stringify(sampleOf(tool.parameters))
  return { hash, tool, input, pieces: input.match(/.{1,8}/gsu) ?? [] }
}

function mentions(text: string, name: string): boolean {
  const at = name === '' ? -1 : text.indexOf(name)
  return at !== -1 && !/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(at + name.length))
}

function cutAtStop(text: string, stops: string[]): { text: string; stopSequence: string | undefined } {
  let end = text.length
  let stopSequence: string | undefined
  for (const stop of stops) {
    const at = stop === '' ? -1 : text.indexOf(stop)
    if (at === -1 || at >= end) continue
    end = at
    stopSequence = stop
  }
  return { text: text.slice(0, end), stopSequence }
}

function inWords(text: string): string[] {
  return text.match(/\s*\S{1,12}|\s+$/g) ?? []
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length <= 400 ? text : `${characters.slice(0, 400).join('')}…`
}
