import type { Block, ToolCallBlock, Turn } from '../../canonical/chat.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import type { Envelope } from '../envelope.ts'
import { invalid } from '../json-scan.ts'
import { decodeParts, readCache } from './decode-parts.ts'
import { decodeReasoning } from './decode-reasoning.ts'
import {
  isPresent,
  type Others,
  optional,
  readList,
  readName,
  readRecord,
  readString,
  readWord,
} from './shape.ts'

export interface MessageContext {
  envelope: Envelope
  others: Others
}

/** The messages as turns, one each. A tool's message is a turn of the user. */
export function decodeMessages(value: unknown, context: MessageContext): Turn[] {
  const messages = readList(value, 'messages')
  if (messages.length === 0) throw invalid('messages', 'expected a non-empty array, got an empty one')
  /** The call that the next `function` message answers, by the name of its function. */
  const legacyCalls = new Map<string, string>()
  return messages.map((value, index) => {
    const path = `messages[${index}]`
    const message = readRecord(value, path)
    const role = readRole(message.role, `${path}.role`)
    context.others.unknown(message, membersOf[role], path)
    const blocks = decodeBlocks(role, message, { path, index, legacyCalls, ...context })
    if (isPresent(message.name) && role !== 'function') {
      context.others.drop(`${path}.name`, 'other formats have no names of participants')
    }
    addCache(blocks, message, path)
    return { role: role === 'tool' || role === 'function' ? 'user' : role, blocks, path }
  })
}

interface Place extends MessageContext {
  path: string
  index: number
  legacyCalls: Map<string, string>
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const
type Role = (typeof roles)[number]
const readRole = readWord(roles)

const common = ['role', 'content', 'name', 'cache_control']
const membersOf: Readonly<Record<Role, ReadonlySet<string>>> = {
  system: new Set(common),
  developer: new Set(common),
  user: new Set(common),
  assistant: new Set([
    ...common,
    'audio',
    'function_call',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'refusal',
    'tool_calls',
  ]),
  tool: new Set([...common, 'tool_call_id']),
  function: new Set(common),
}

function decodeBlocks(role: Role, message: Json, place: Place): Block[] {
  const { path, index, legacyCalls, others } = place
  switch (role) {
    case 'system':
    case 'developer':
    case 'user':
      return decodeParts(message.content, `${path}.content`, others)
    case 'assistant':
      return decodeAssistant(message, place)
    case 'tool': {
      const callId = readName(message.tool_call_id, `${path}.tool_call_id`)
      return [decodeResult(callId, message, place)]
    }
    case 'function': {
      const name = readName(message.name, `${path}.name`)
      return [decodeResult(legacyCalls.get(name) ?? legacyId(index), message, place)]
    }
  }
}

function decodeResult(callId: string, message: Json, { path, others }: Place): Block {
  const blocks = isPresent(message.content) ? decodeParts(message.content, `${path}.content`, others) : []
  const content = blocks.filter(
    (block) => block.type === 'text' || block.type === 'image' || block.type === 'document',
  )
  const other = blocks.find(
    (block) => block.type !== 'text' && block.type !== 'image' && block.type !== 'document',
  )
  if (other !== undefined) others.refuse(other.path, 'no result of a tool may hold it')
  return { type: 'tool-result', path, callId, content, isError: false }
}

function decodeAssistant(message: Json, place: Place): Block[] {
  const { path, index, legacyCalls, envelope, others } = place
  const blocks: Block[] = decodeReasoning(message, path, envelope)
  if (isPresent(message.content)) blocks.push(...decodeParts(message.content, `${path}.content`, others))
  const refusal = optional(message.refusal, `${path}.refusal`, readString)
  if (refusal) blocks.push({ type: 'refusal', path: `${path}.refusal`, text: refusal })
  if (isPresent(message.audio)) others.refuse(`${path}.audio`, 'only the vendor that spoke it has this audio')
  const calls = optional(message.tool_calls, `${path}.tool_calls`, readList) ?? []
  for (const [at, call] of calls.entries()) blocks.push(decodeCall(call, `${path}.tool_calls[${at}]`, others))
  if (isPresent(message.function_call)) {
    const id = legacyId(index)
    const call = decodeFunctionCall(message.function_call, `${path}.function_call`, id)
    legacyCalls.set(call.name, id)
    blocks.push(call)
  }
  return blocks
}

function decodeCall(value: unknown, path: string, others: Others): ToolCallBlock {
  const call = readRecord(value, path)
  others.unknown(call, callMembers, path)
  const id = readName(call.id, `${path}.id`)
  if (call.type !== 'custom') return { ...decodeFunctionCall(call.function, `${path}.function`, id), path }
  const custom = readRecord(call.custom, `${path}.custom`)
  return {
    type: 'tool-call',
    path,
    id,
    name: readName(custom.name, `${path}.custom.name`),
    kind: 'custom',
    input: optional(custom.input, `${path}.custom.input`, readString) ?? '',
  }
}

/** `index` comes from streams that were put together again. */
const callMembers: ReadonlySet<string> = new Set(['id', 'type', 'function', 'custom', 'index'])

function decodeFunctionCall(value: unknown, path: string, id: string): ToolCallBlock {
  const call = readRecord(value, path)
  return {
    type: 'tool-call',
    path,
    id,
    name: readName(call.name, `${path}.name`),
    kind: 'function',
    input: isRecord(call.arguments)
      ? JSON.stringify(call.arguments)
      : (optional(call.arguments, `${path}.arguments`, readString) ?? ''),
  }
}

/** Calls had no ids once. */
function legacyId(index: number): string {
  return `call_function_${index}`
}

/** LiteLLM's clients put the hint on a whole message: it counts for the last block. */
function addCache(blocks: Block[], message: Json, path: string): void {
  const last = blocks.at(-1)
  if (last !== undefined) Object.assign(last, readCache(message, path))
}
