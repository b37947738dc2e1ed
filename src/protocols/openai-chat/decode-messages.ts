import type { Block, ReasoningSignature, ToolCallBlock, Turn } from '../../canonical/chat.ts'
import { invalid } from '../../canonical/field-error.ts'
import { isRecord, textOf } from '../../canonical/json.ts'
import type { Envelope } from '../envelope.ts'
import type { Members } from '../members.ts'
import { decodeParts, readCache } from './decode-parts.ts'
import { decodeReasoning } from './decode-reasoning.ts'

/** Decodes each message to one turn. Tool messages become user turns. */
export function decodeMessages(body: Members, envelope: Envelope): Turn[] {
  const messages = body.requiredObjects('messages')
  if (messages.length === 0) throw invalid('messages', 'expected a non-empty array, got an empty one')
  const context: MessageContext = { envelope, legacyCalls: new Map() }
  return messages.map((message, index) => {
    const role = message.requiredWord('role', roles)
    const blocks = decodeBlocks(role, message, `call_function_${index}`, context)
    if (role !== 'function') message.drop('name', 'other formats have no participant names')
    // LiteLLM's clients put the cache hint on a whole message. It applies to the last block.
    Object.assign(blocks.at(-1) ?? {}, readCache(message))
    message.noteRest()
    const isResult = role === 'tool' || role === 'function'
    return { role: isResult ? 'user' : role, blocks, path: message.path }
  })
}

interface MessageContext {
  envelope: Envelope
  /**
   * Our id for each `function_call` by function name, because these calls have no ids. The next result
   * belongs to that call.
   */
  legacyCalls: Map<string, string>
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

/** `madeId` is used for a call or a result without an id. */
function decodeBlocks(
  role: (typeof roles)[number],
  message: Members,
  madeId: string,
  context: MessageContext,
): Block[] {
  switch (role) {
    case 'system':
    case 'developer':
    case 'user':
      return decodeParts(message, 'content')
    case 'assistant':
      return decodeAssistant(message, madeId, context)
    case 'tool':
      return [decodeResult(message, message.requiredName('tool_call_id'))]
    case 'function':
      return [decodeResult(message, context.legacyCalls.get(message.requiredName('name')) ?? madeId)]
  }
}

function decodeResult(message: Members, callId: string): Block {
  const blocks = message.has('content') ? decodeParts(message, 'content') : []
  // A hint on a part of a result applies to the whole result, because other formats have no hints inside
  // results.
  const cache = blocks.findLast((block) => block.cache !== undefined)?.cache
  const content = blocks
    .filter((block) => block.type === 'text' || block.type === 'image' || block.type === 'document')
    .map(({ cache: _, ...block }) => block)
  const other = blocks.find(
    (block) => block.type !== 'text' && block.type !== 'image' && block.type !== 'document',
  )
  if (other !== undefined)
    message.unmapped.refuse(other.path, 'tool results in other formats cannot contain this part')
  const hint = cache === undefined ? {} : { cache }
  return { type: 'tool-result', path: message.path, callId, content, isError: false, ...hint }
}

function decodeAssistant(
  message: Members,
  madeId: string,
  { envelope, legacyCalls }: MessageContext,
): Block[] {
  const blocks: Block[] = decodeReasoning(message, envelope)
  if (message.has('content')) blocks.push(...decodeParts(message, 'content'))
  const refusal = message.text('refusal')
  if (refusal) blocks.push({ type: 'refusal', path: message.pathOf('refusal'), text: refusal })
  message.refuse('audio', 'this audio is stored only at the vendor that produced it')
  for (const call of message.objects('tool_calls') ?? [])
    blocks.push(...geminiSignature(call), decodeCall(call))
  const legacyCall = message.members('function_call')
  if (legacyCall !== undefined) {
    const call = decodeFunctionCall(legacyCall, madeId)
    legacyCalls.set(call.name, madeId)
    blocks.push(call)
  }
  return blocks
}

/**
 * The signature of Gemini's thought before a call, in the member that Gemini's endpoint for this format uses:
 * https://ai.google.dev/gemini-api/docs/thought-signatures#openai, read 2026-11-28
 */
function geminiSignature(call: Members): Block[] {
  const extra = call.any('extra_content')
  const value = isRecord(extra) && isRecord(extra.google) ? textOf(extra.google.thought_signature) : undefined
  if (value === undefined) return []
  const id = textOf(call.any('id'))
  const signature: ReasoningSignature = {
    protocol: 'gemini',
    model: undefined,
    kind: 'encrypted',
    value,
    ...(id && { id }),
  }
  return [{ type: 'reasoning', path: call.pathOf('extra_content'), text: '', summary: false, signature }]
}

function decodeCall(call: Members): ToolCallBlock {
  const id = call.requiredName('id')
  const isCustom = call.any('type') === 'custom'
  const body = call.requiredMembers(isCustom ? 'custom' : 'function')
  // Clients that assemble a message from a stream keep its `index`.
  call.ignore(['custom', 'function', 'index', 'extra_content'])
  call.noteRest()
  if (!isCustom) return { ...decodeFunctionCall(body, id), path: call.path }
  const decoded: ToolCallBlock = {
    type: 'tool-call',
    path: call.path,
    id,
    name: body.requiredName('name'),
    kind: 'custom',
    input: body.text('input') ?? '',
  }
  body.noteRest()
  return decoded
}

function decodeFunctionCall(call: Members, id: string): ToolCallBlock {
  const given = call.any('arguments')
  const decoded: ToolCallBlock = {
    type: 'tool-call',
    path: call.path,
    id,
    name: call.requiredName('name'),
    kind: 'function',
    input: isRecord(given) ? JSON.stringify(given) : (call.text('arguments') ?? ''),
  }
  // OpenAI's SDKs add the parsed arguments, and clients send them back.
  call.ignore(['parsed_arguments'])
  call.noteRest()
  return decoded
}
