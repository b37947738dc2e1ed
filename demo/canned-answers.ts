import { isRecord } from './json.ts'
import { DemoRefusal, type DemoRequest, type DemoTool, type DemoTurn } from './request.ts'
import { sampleOf } from './sample.ts'

/**
 * A response: a text or a tool call, optionally after a thought. Texts are split into pieces of one token
 * each.
 */
export interface Answer {
  thought: string[]
  text: string[]
  /** `json` is the input as JSON, in pieces. */
  call: { name: string; input: unknown; json: string[] } | undefined
  /** Whether the response exceeded the output tokens that the client allows. */
  isCut: boolean
  inputTokens: number
  outputTokens: number
}

const label = 'This is the demo channel of Tollgate; no model is behind it.'
const cannedThought = 'The demo channel thinks in canned words too.'

/** Returns the same response for the same request. Throws a DemoRefusal. */
export function answerTo(request: DemoRequest): Answer {
  const { turns, tools, outputTokensMax } = request
  if (turns.length === 0) throw new DemoRefusal(400, 'The request contains no message to respond to.')
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

/** About four bytes per token. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/**
 * Returns the tool to call. The client's choice must name a tool or require any; otherwise the user's text
 * must name one. The demo responds to tool results with text, so that an agent's loop ends.
 */
function toolToCall({ tools, toolChoice, turns }: DemoRequest): DemoTool | undefined {
  if (toolChoice === 'none' || lastResults(turns).length > 0) return undefined
  const words = isRecord(toolChoice) ? [toolChoice.name] : lastText(turns).split(/[^\w-]+/)
  const named = tools.find(({ name }) => words.includes(name))
  if (named !== undefined || toolChoice === 'auto') return named
  if (isRecord(toolChoice) || tools[0] === undefined) {
    throw new DemoRefusal(400, 'The request contains no function that its tool choice allows.')
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

/** Returns the tool results that follow the model's last turn. */
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
