import { isRecord, type Json, recordsOf } from './json.ts'

/** The members of a request that the demo reads. It ignores all others. */
export interface DemoRequest {
  /** One turn for each part of each message. */
  turns: DemoTurn[]
  tools: DemoTool[]
  /** An object names the tool that must be called. */
  toolChoice: 'auto' | 'none' | 'required' | { name: string }
  /** The JSON Schema of the response; undefined means plain text. */
  schema: unknown
  wantsThought: boolean
  outputTokensMax: number
}

export interface DemoTurn {
  from: 'user' | 'model' | 'tool' | 'system'
  text: string
}

export interface DemoTool {
  name: string
  /** A JSON Schema. */
  parameters: unknown
}

/** The reason why the demo cannot respond to a request. */
export class DemoRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The paths under which the four text formats have equivalent members. */
const names = {
  answers: ['n', 'generationConfig.candidateCount'],
  turns: ['messages', 'input', 'contents'],
  content: ['content', 'parts', 'output'],
  text: ['text', 'content', 'functionResponse.response'],
  tool: ['function.name', 'name', 'allowedFunctionNames.0'],
  parameters: ['function.parameters', 'parameters', 'input_schema', 'parametersJsonSchema'],
  toolChoice: ['tool_choice', 'toolConfig.functionCallingConfig'],
  format: ['response_format', 'text.format', 'output_config.format', 'generationConfig'],
  formatType: ['type', 'responseMimeType'],
  schema: ['json_schema.schema', 'schema', 'responseJsonSchema', 'responseSchema'],
  thought: ['reasoning_effort', 'thinking.type', 'generationConfig.thinkingConfig.includeThoughts'],
  tokensMax: ['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'generationConfig.maxOutputTokens'],
}

/** Reads a body in any text format. Throws a DemoRefusal. */
export function readDemoRequest(body: Json): DemoRequest {
  if ((find(body, 'answers') ?? 1) !== 1)
    throw new DemoRefusal(400, 'The demo channel supports only one choice.')
  const turns = find(body, 'turns')
  const tokensMax = find(body, 'tokensMax')
  const thought = String(find(body, 'thought') ?? 'none')
  return {
    turns: typeof turns === 'string' ? [{ from: 'user', text: turns }] : recordsOf(turns).flatMap(turnsOf),
    tools: recordsOf(body.tools).flatMap(toolsOf),
    toolChoice: toolChoiceOf(find(body, 'toolChoice')),
    schema: schemaOf(find(body, 'format')),
    wantsThought: !['none', 'disabled', 'false'].includes(thought),
    outputTokensMax: typeof tokensMax === 'number' ? tokensMax : Number.POSITIVE_INFINITY,
  }
}

function find(value: unknown, name: keyof typeof names): unknown {
  const found = names[name].map((path) => path.split('.').reduce(memberOf, value))
  return found.find((member) => member !== undefined && member !== null)
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value[Number(name)]
  return isRecord(value) ? value[name] : undefined
}

function turnsOf(message: Json): DemoTurn[] {
  const content = find(message, 'content')
  const parts = Array.isArray(content) ? recordsOf(content) : [{ text: content }]
  return parts.map((part) => ({ from: fromOf(message, part), text: textOf(part) }))
}

function fromOf({ role, type }: Json, part: Json): DemoTurn['from'] {
  const isResult = part.type === 'tool_result' || part.functionResponse !== undefined
  if (isResult || role === 'tool' || String(type).endsWith('_call_output')) return 'tool'
  if (role === 'system' || role === 'developer') return 'system'
  // In Responses, items without a role are calls and reasoning. In Gemini, contents without a role are the
  // user's.
  const isModel = role === 'assistant' || role === 'model' || (role === undefined && type !== undefined)
  return isModel ? 'model' : 'user'
}

/** Media contain no text. */
function textOf(part: Json): string {
  const text = find(part, 'text') ?? ''
  if (Array.isArray(text)) return recordsOf(text).map(textOf).join(' ')
  return typeof text === 'string' ? text : JSON.stringify(text)
}

/** Excludes tools that the vendor runs itself, which have no parameters. */
function toolsOf(tool: Json): DemoTool[] {
  const [name, parameters] = [find(tool, 'tool'), find(tool, 'parameters')]
  if (typeof name === 'string' && parameters !== undefined) return [{ name, parameters }]
  return recordsOf(tool.functionDeclarations).flatMap(toolsOf)
}

function toolChoiceOf(choice: unknown): DemoRequest['toolChoice'] {
  const name = find(choice, 'tool')
  if (typeof name === 'string') return { name }
  const mode = String(isRecord(choice) ? (choice.type ?? choice.mode) : choice).toLowerCase()
  if (mode === 'required' || mode === 'any') return 'required'
  return mode === 'none' ? 'none' : 'auto'
}

function schemaOf(format: unknown): unknown {
  const type = find(format, 'formatType')
  const isAnyObject = type === 'json_object' || type === 'application/json'
  return find(format, 'schema') ?? (isAnyObject ? anyObject : undefined)
}

const anyObject = { type: 'object', properties: { reply: { type: 'string' } } }
