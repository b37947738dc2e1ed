import { isRecord } from '../canonical/json.ts'
import { DemoRefusal, type DemoRequest, type DemoTool, type DemoTurn } from './request.ts'
import { sampleOf } from './sample.ts'

/** One answer: a text or a tool call, perhaps after a thought. Texts are in pieces of one token each. */
export interface Answer {
  thought: string[]
  text: string[]
  /** `json` is the input in JSON, in pieces. */
  call: { name: string; input: unknown; json: string[] } | undefined
  /** The answer did not fit into the output tokens that the client allows. */
  isCut: boolean
  inputTokens: number
  outputTokens: number
}

const label = 'This is the demo channel of Tollgate; no model is behind it.'
const cannedThought = 'The demo channel thinks in canned words too.'

/** The same request gets the same answer. Throws Refusal. */
export function answerTo(request: DemoRequest): Answer {
  const { turns, tools, outputTokensMax } = request
  if (turns.length === 0) throw new DemoRefusal(400, 'The demo channel found no message to answer.')
  const tool = toolToCall(request)
  const input = sampleOf(tool?.parameters)
  const thought = inPieces(request.wantsThought ? cannedThought : '').slice(0, outputTokensMax)
  const whole = inPieces(tool === undefined ? textFor(request) : JSON.stringify(input))
  const kept = whole.slice(0, outputTokensMax - thought.length)
  const isCut = kept.length < whole.length
  return {
    thought,
    text: tool === undefined ? kept : [],
    // A client cannot run half a call.
    call: tool === undefined || isCut ? undefined : { name: tool.name, input, json: whole },
    isCut,
    inputTokens: tokensOf(JSON.stringify([turns, tools])),
    outputTokens: Math.max(1, thought.length + kept.length),
  }
}

/** About four bytes a token. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/**
 * The client's choice names a tool or asks for any; otherwise the user's text has to name one. The demo
 * answers tool results in text, so that an agent's loop ends.
 */
function toolToCall({ tools, toolChoice, turns }: DemoRequest): DemoTool | undefined {
  if (toolChoice === 'none' || lastResults(turns).length > 0) return undefined
  const words = isRecord(toolChoice) ? [toolChoice.name] : lastText(turns).split(/[^\w-]+/)
  const named = tools.find(({ name }) => words.includes(name))
  if (named !== undefined || toolChoice === 'auto') return named
  if (isRecord(toolChoice) || tools[0] === undefined) {
    throw new DemoRefusal(400, 'The demo channel knows no function that this tool choice allows.')
  }
  return tools[0]
}

function textFor({ schema, turns }: DemoRequest): string {
  if (schema !== undefined) return JSON.stringify(sampleOf(schema))
  const results = lastResults(turns)
  if (results.length > 0) return `${label} The tools answered: ${results.map(shorten).join('; ')}`
  return `${label} You said: "${shorten(lastText(turns))}"`
}

function lastText(turns: DemoTurn[]): string {
  return turns.findLast(({ from, text }) => from === 'user' && text !== '')?.text ?? ''
}

/** The tool results that came after the model's last turn. */
function lastResults(turns: DemoTurn[]): string[] {
  const last = turns.findLastIndex(({ from }) => from === 'model')
  return turns.slice(last + 1).flatMap(({ from, text }) => (from === 'tool' ? [text] : []))
}

function shorten(text: string): string {
  return text.length <= 400 ? text : `${text.slice(0, 400).toWellFormed()}…`
}

function inPieces(text: string): string[] {
  return text.match(/\s*\S{1,12}|\s+$/gu) ?? []
}
