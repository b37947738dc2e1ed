import type { Block, Seal, ToolResultBlock, Turn } from '../../canonical/chat.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { type Envelope, isEnvelope } from '../envelope.ts'
import { type ContentBlock, decodeContent } from './decode-content.ts'
import type { ToolList } from './decode-tools.ts'
import type { Leftovers } from './leftovers.ts'
import { optional, readObject, readText, readWord, searchToolName, wrongShape } from './wire.ts'

/** What the items of `input` change of the settings. */
export interface ConfigurationUpdate {
  effort: unknown
  format: unknown
  path: string
}

/**
 * Items of `input` as turns. What the assistant said, thought and called stands in one turn until somebody else has
 * the word; results that follow each other stand in one turn of the user.
 */
export class ItemDecoder {
  readonly turns: Turn[] = []
  /** The last one, which is the one in force. */
  update: ConfigurationUpdate | undefined
  readonly #tools: ToolList
  readonly #leftovers: Leftovers
  readonly #envelope: Envelope

  constructor(tools: ToolList, leftovers: Leftovers, envelope: Envelope) {
    this.#tools = tools
    this.#leftovers = leftovers
    this.#envelope = envelope
  }

  add(item: Json, path: string): void {
    const type = optional(item.type, (value) => readText(value, `${path}.type`)) ?? impliedType(item, path)
    switch (type) {
      case 'message':
        this.#addMessage(item, path)
        break
      case 'function_call':
      case 'custom_tool_call':
        this.#addCall(item, path, type)
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#addResult(item, path)
        break
      case 'reasoning':
        this.#addReasoning(item, path)
        break
      case 'additional_tools':
        this.#leftovers.unknown(item, path, additionalToolsMembers)
        this.#tools.add(item.tools, `${path}.tools`)
        break
      case 'tool_search_call':
        this.#addSearch(item, path)
        break
      case 'tool_search_output':
        this.#addFoundTools(item, path)
        break
      case 'configuration_update':
        this.#updateConfiguration(item, path)
        break
      default:
        this.#leave(type, path)
    }
  }

  #leave(type: string, path: string): void {
    const dropped = vendorsWork.get(type)
    if (dropped !== undefined) this.#leftovers.drop(path, dropped)
    else {
      const reason = refusals.get(type) ?? `"${type.slice(0, 40)}" is no item that other formats have`
      this.#leftovers.refuse(path, reason)
    }
  }

  #addMessage(item: Json, path: string): void {
    this.#leftovers.unknown(item, path, messageMembers, {
      phase: 'other formats do not mark phases of an answer',
    })
    const role = readWord(item.role, ['user', 'assistant', 'system', 'developer'], `${path}.role`)
    const blocks = decodeContent(item.content, `${path}.content`, this.#leftovers)
    if (blocks.length === 0) return
    if (role === 'assistant') this.#assistant(path).push(...blocks)
    else this.turns.push({ role, blocks, path })
  }

  #addCall(item: Json, path: string, type: 'function_call' | 'custom_tool_call'): void {
    const isCustom = type === 'custom_tool_call'
    this.#leftovers.unknown(item, path, isCustom ? customCallMembers : functionCallMembers, callLosses)
    this.#noteCaller(item, path)
    const input = isCustom
      ? readText(item.input, `${path}.input`)
      : readText(item.arguments, `${path}.arguments`)
    const namespace = optional(item.namespace, (value) => readText(value, `${path}.namespace`))
    this.#assistant(path).push({
      type: 'tool-call',
      id: readText(item.call_id, `${path}.call_id`),
      name: readText(item.name, `${path}.name`),
      ...(namespace === undefined || namespace === '' ? {} : { namespace }),
      kind: isCustom ? 'custom' : 'function',
      input,
      path,
    })
  }

  #addResult(item: Json, path: string): void {
    this.#leftovers.unknown(item, path, resultMembers, callLosses)
    this.#noteCaller(item, path)
    const parts = decodeContent(item.output, `${path}.output`, this.#leftovers)
    const content: ToolResultBlock['content'] = []
    for (const part of parts) {
      if (isResultPart(part)) content.push(part)
      else this.#leftovers.refuse(part.path, 'the result of a tool holds text, images and files only')
    }
    this.#result({
      type: 'tool-result',
      callId: readText(item.call_id, `${path}.call_id`),
      content,
      isError: false,
      path,
    })
  }

  #addReasoning(item: Json, path: string): void {
    this.#leftovers.unknown(item, path, reasoningMembers)
    const summary = textsOf(item.summary)
    const thought = textsOf(item.content)
    const seal = this.#openSeal(item, path)
    const text = thought === '' ? summary : thought
    if (text === '' && seal === undefined) return
    this.#assistant(path).push({ type: 'reasoning', text, summary: thought === '', seal, path })
  }

  /** A seal that an earlier answer of ours carried, or one of this format's own. */
  #openSeal(item: Json, path: string): Seal | undefined {
    const sealPath = `${path}.encrypted_content`
    const value = optional(item.encrypted_content, (text) => readText(text, sealPath))
    if (value === undefined || value === '') return undefined
    const opened = this.#envelope.open(value)
    if (opened !== undefined) return opened
    if (isEnvelope(value)) {
      this.#leftovers.drop(sealPath, 'it was not made by this gateway, or was changed')
      return undefined
    }
    const id = textOf(item.id)
    return {
      protocol: 'openai-responses',
      model: undefined,
      kind: 'encrypted',
      value,
      ...(id === undefined ? {} : { id }),
    }
  }

  #addSearch(item: Json, path: string): void {
    this.#leftovers.unknown(item, path, searchCallMembers, callLosses)
    const id = textOf(item.call_id)
    if (id === undefined || item.execution === 'server') {
      this.#leftovers.drop(path, 'the tools that were found are sent like all others')
      return
    }
    const { arguments: given } = item
    const input = typeof given === 'string' ? given : JSON.stringify(given ?? {})
    this.#assistant(path).push({ type: 'tool-call', id, name: searchToolName, kind: 'function', input, path })
  }

  #addFoundTools(item: Json, path: string): void {
    this.#leftovers.unknown(item, path, foundToolsMembers)
    const names = this.#tools.add(item.tools, `${path}.tools`, true)
    const callId = textOf(item.call_id)
    if (callId === undefined || item.execution === 'server') return
    const text =
      names.length === 0 ? 'No tool was found.' : `These tools can be called now: ${names.join(', ')}`
    this.#result({
      type: 'tool-result',
      callId,
      content: [{ type: 'text', text, path }],
      isError: false,
      path,
    })
  }

  #updateConfiguration(item: Json, path: string): void {
    this.#leftovers.unknown(item, path, updateMembers)
    const reasoning = optional(item.reasoning, (value) => readObject(value, `${path}.reasoning`))
    const text = optional(item.text, (value) => readObject(value, `${path}.text`))
    this.#leftovers.unknown(reasoning ?? {}, `${path}.reasoning`, new Set(['effort']))
    this.#leftovers.unknown(text ?? {}, `${path}.text`, new Set(['format']))
    this.update = {
      effort: reasoning?.effort ?? this.update?.effort,
      format: text?.format ?? this.update?.format,
      path,
    }
  }

  /** `direct` says nothing: the model itself called. */
  #noteCaller(item: Json, path: string): void {
    if (isRecord(item.caller) && item.caller.type !== 'direct') {
      this.#leftovers.drop(`${path}.caller`, 'in other formats only the model itself calls tools')
    }
  }

  #assistant(path: string): Block[] {
    const last = this.turns.at(-1)
    if (last?.role === 'assistant') return last.blocks
    const turn: Turn = { role: 'assistant', blocks: [], path }
    this.turns.push(turn)
    return turn.blocks
  }

  #result(block: ToolResultBlock): void {
    const last = this.turns.at(-1)
    if (last?.role === 'user' && last.blocks.at(-1)?.type === 'tool-result') last.blocks.push(block)
    else this.turns.push({ role: 'user', blocks: [block], path: block.path })
  }
}

/** Messages and references may leave their type out. */
function impliedType(item: Json, path: string): string {
  if (item.role !== undefined) return 'message'
  if (item.id !== undefined) return 'item_reference'
  throw wrongShape(`${path}.type`, 'a string', item.type)
}

function isResultPart(part: ContentBlock): part is ToolResultBlock['content'][number] {
  return part.type === 'text' || part.type === 'image' || part.type === 'document'
}

function textsOf(parts: unknown): string {
  return recordsOf(parts)
    .map((part) => textOf(part.text) ?? '')
    .filter((text) => text !== '')
    .join('\n\n')
}

// Ids and states of items say where the vendor keeps them, which is nowhere: nothing is lost without them.
const bookkeeping = ['type', 'id', 'status', 'created_by']
const messageMembers = new Set([...bookkeeping, 'role', 'content'])
const functionCallMembers = new Set([...bookkeeping, 'call_id', 'name', 'namespace', 'arguments', 'caller'])
const customCallMembers = new Set([...bookkeeping, 'call_id', 'name', 'namespace', 'input', 'caller'])
const resultMembers = new Set([...bookkeeping, 'call_id', 'name', 'namespace', 'output', 'caller'])
const reasoningMembers = new Set([...bookkeeping, 'summary', 'content', 'encrypted_content'])
const additionalToolsMembers = new Set([...bookkeeping, 'role', 'tools'])
const searchCallMembers = new Set([...bookkeeping, 'call_id', 'execution', 'arguments'])
const foundToolsMembers = new Set([...bookkeeping, 'call_id', 'execution', 'tools'])
const updateMembers = new Set([...bookkeeping, 'reasoning', 'text'])

const callLosses = { async: 'other formats have no calls that are answered later' }

/** What the vendor's own tools did: the answer that followed tells it. */
const vendorsWork: ReadonlyMap<string, string> = new Map([
  ['web_search_call', 'a search that the vendor ran; the answer that followed tells what it found'],
  ['file_search_call', 'a search that the vendor ran; the answer that followed tells what it found'],
  ['code_interpreter_call', 'code that the vendor ran; the answer that followed tells what came out'],
  ['mcp_list_tools', 'a list of tools that the vendor called itself'],
  ['mcp_call', 'a call that the vendor made itself; the answer that followed tells what came out'],
  ['program', 'a program that the vendor ran; the answer that followed tells what came out'],
  ['program_output', 'a program that the vendor ran; the answer that followed tells what came out'],
])

const noSuchTool = 'a call of a tool that only this format has'

const refusals: ReadonlyMap<string, string> = new Map([
  ['item_reference', 'item_reference: items are not stored here; send the item itself'],
  ['compaction', 'compaction: only the vendor that made it can read it'],
  ['compaction_trigger', 'compaction_trigger: other formats cannot compact a conversation'],
  [
    'image_generation_call',
    'image_generation_call: an image that one vendor made cannot be handed to another',
  ],
  ['local_shell_call', `local_shell_call: ${noSuchTool}`],
  ['local_shell_call_output', `local_shell_call_output: ${noSuchTool}`],
  ['shell_call', `shell_call: ${noSuchTool}`],
  ['shell_call_output', `shell_call_output: ${noSuchTool}`],
  ['apply_patch_call', `apply_patch_call: ${noSuchTool}`],
  ['apply_patch_call_output', `apply_patch_call_output: ${noSuchTool}`],
  ['computer_call', `computer_call: ${noSuchTool}`],
  ['computer_call_output', `computer_call_output: ${noSuchTool}`],
  ['mcp_approval_request', `mcp_approval_request: ${noSuchTool}`],
  ['mcp_approval_response', `mcp_approval_response: ${noSuchTool}`],
])
