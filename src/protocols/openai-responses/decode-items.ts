import type {
  Block,
  ReasoningEffort,
  ReasoningSignature,
  ToolResultBlock,
  Turn,
} from '../../canonical/chat.ts'
import { reasoningEfforts } from '../../canonical/chat.ts'
import { isRecord, recordsOf, textOf } from '../../canonical/json.ts'
import { notOurs, summaryText } from '../compacted.ts'
import { type Envelope, isEnvelope } from '../envelope.ts'
import type { Members } from '../members.ts'
import { type OwnTool, ownItemOf } from './client-tools.ts'
import { type ContentBlock, decodeContent } from './decode-content.ts'
import type { ToolList } from './decode-tools.ts'
import { searchToolName } from './wire.ts'

/** Settings changed by items of `input`. */
export interface ConfigurationUpdate {
  effort: ReasoningEffort | undefined
  format: Members | undefined
}

/**
 * Decodes items of `input` into turns. Consecutive text, reasoning and calls of the assistant become one
 * turn. Consecutive results become one user turn.
 */
export class ItemDecoder {
  readonly turns: Turn[] = []
  /** The current settings. Later updates override earlier ones. */
  readonly update: ConfigurationUpdate = { effort: undefined, format: undefined }
  readonly #tools: ToolList
  readonly #envelope: Envelope
  /** Call ids by the ids of their items. */
  readonly #callIds = new Map<string, string>()

  constructor(tools: ToolList, envelope: Envelope) {
    this.#tools = tools
    this.#envelope = envelope
  }

  add(item: Members): void {
    const type = item.text('type') ?? impliedType(item)
    item.ignore(bookkeeping)
    switch (type) {
      case 'message':
        this.#addMessage(item)
        break
      case 'function_call':
      case 'custom_tool_call':
        this.#addCall(item, type === 'custom_tool_call')
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#addResult(item)
        break
      case 'reasoning':
        this.#addReasoning(item)
        break
      case 'additional_tools':
        item.ignore(['role'])
        this.#tools.add(item.requiredObjects('tools'))
        break
      case 'tool_search_call':
        this.#addSearch(item)
        break
      case 'tool_search_output':
        this.#addFoundTools(item)
        break
      case 'configuration_update':
        this.#updateConfiguration(item)
        break
      case 'compaction':
      case 'compaction_summary':
        if (!this.#addCompaction(item)) return
        break
      default: {
        const own = ownItemOf(type)
        if (own === undefined) {
          leaveOut(item, type)
          return
        }
        if (own.isResult) this.#addOwnResult(item, own.tool)
        else this.#addOwnCall(item, own.tool)
      }
    }
    item.noteRest(losses)
  }

  #addMessage(item: Members): void {
    const role = item.requiredWord('role', ['user', 'assistant', 'system', 'developer'])
    const blocks = decodeContent(item, 'content')
    if (blocks.length === 0) return
    if (role === 'assistant') this.#assistant(item.path).push(...blocks)
    else this.turns.push({ role, blocks, path: item.path })
  }

  #addCall(item: Members, isCustom: boolean): void {
    noteCaller(item)
    const namespace = item.text('namespace')
    this.#assistant(item.path).push({
      type: 'tool-call',
      id: item.requiredText('call_id'),
      name: item.requiredText('name'),
      ...(namespace === undefined || namespace === '' ? {} : { namespace }),
      kind: isCustom ? 'custom' : 'function',
      input: item.requiredText(isCustom ? 'input' : 'arguments'),
      path: item.path,
    })
  }

  #addResult(item: Members): void {
    noteCaller(item)
    item.ignore(['name', 'namespace'])
    const content: ToolResultBlock['content'] = []
    for (const part of decodeContent(item, 'output')) {
      if (isResultPart(part)) content.push(part)
      else item.unmapped.refuse(part.path, 'tool results can contain only text, images and files')
    }
    const callId = item.requiredText('call_id')
    this.#result({ type: 'tool-result', callId, content, isError: false, path: item.path })
  }

  /** Adds a call of a tool that the vendor defines and the client runs. */
  #addOwnCall(item: Members, tool: OwnTool): void {
    noteCaller(item)
    const id = item.requiredText('call_id')
    const itemId = textOf(item.any('id'))
    if (itemId !== undefined) this.#callIds.set(itemId, id)
    const input = JSON.stringify(tool.inputOf(item))
    const { path } = item
    this.#assistant(path).push({ type: 'tool-call', id, name: tool.name, kind: 'function', input, path })
  }

  /**
   * The result of a local shell refers to its call in `id`: some clients send the id of the item there,
   * others that of the call.
   */
  #addOwnResult(item: Members, tool: OwnTool): void {
    noteCaller(item)
    const id = tool.call === 'local_shell_call' ? item.text('id') : undefined
    const callId = item.text('call_id') ?? (id && this.#callIds.get(id)) ?? id ?? item.requiredText('call_id')
    this.#result({ type: 'tool-result', callId, ...tool.resultOf(item), path: item.path })
  }

  #addReasoning(item: Members): void {
    const summary = textsOf(item.any('summary'))
    const thought = textsOf(item.any('content'))
    const signature = this.#openSignature(item)
    const text = thought === '' ? summary : thought
    if (text === '' && signature === undefined) return
    const { path } = item
    this.#assistant(path).push({ type: 'reasoning', text, summary: thought === '', signature, path })
  }

  /** A signature from one of our envelopes, or a signature of this format. */
  #openSignature(item: Members): ReasoningSignature | undefined {
    const value = item.text('encrypted_content')
    if (value === undefined || value === '') return undefined
    const opened = this.#envelope.open(value)
    if (opened !== undefined) return opened
    if (isEnvelope(value)) {
      item.drop('encrypted_content', 'not created by this gateway, or modified since')
      return undefined
    }
    const id = textOf(item.any('id'))
    return {
      protocol: 'openai-responses',
      model: undefined,
      kind: 'encrypted',
      value,
      ...(id === undefined ? {} : { id }),
    }
  }

  /** Returns false if another vendor compacted the conversation, in which case the item is refused. */
  #addCompaction(item: Members): boolean {
    const sealed = item.text('encrypted_content') ?? ''
    const { path } = item
    if (!isEnvelope(sealed)) {
      leaveOut(item, 'compaction')
      return false
    }
    const summary = this.#envelope.openSummary(sealed)
    if (summary === undefined) item.unmapped.refuse(path, `compaction: ${notOurs}`)
    else this.turns.push({ role: 'user', blocks: [{ type: 'text', text: summaryText(summary), path }], path })
    return true
  }

  #addSearch(item: Members): void {
    const id = textOf(item.any('call_id'))
    const given = item.any('arguments')
    const { path } = item
    if (id === undefined || item.any('execution') === 'server') {
      item.unmapped.drop(path, 'the tools that it found are sent like all others')
      return
    }
    const input = typeof given === 'string' ? given : JSON.stringify(given ?? {})
    this.#assistant(path).push({ type: 'tool-call', id, name: searchToolName, kind: 'function', input, path })
  }

  #addFoundTools(item: Members): void {
    const names = this.#tools.add(item.requiredObjects('tools'), true)
    const callId = textOf(item.any('call_id'))
    if (callId === undefined || item.any('execution') === 'server') return
    const text =
      names.length === 0 ? 'No tool was found.' : `These tools can be called now: ${names.join(', ')}`
    const { path } = item
    const content: ToolResultBlock['content'] = [{ type: 'text', text, path }]
    this.#result({ type: 'tool-result', callId, content, isError: false, path })
  }

  #updateConfiguration(item: Members): void {
    const reasoning = item.members('reasoning')
    const text = item.members('text')
    this.update.effort = reasoning?.word('effort', reasoningEfforts) ?? this.update.effort
    this.update.format = text?.members('format') ?? this.update.format
    reasoning?.noteRest()
    text?.noteRest()
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

/** Messages and references can omit their type. */
function impliedType(item: Members): string {
  if (item.has('role')) return 'message'
  return item.has('id') ? 'item_reference' : item.requiredText('type')
}

function leaveOut({ path, unmapped }: Members, type: string): void {
  const dropped = vendorsWork.get(type)
  if (dropped !== undefined) unmapped.drop(path, dropped)
  else
    unmapped.refuse(
      path,
      refusals.get(type) ?? `other formats do not support items of type "${type.slice(0, 40)}"`,
    )
}

/** Notes that callers other than `direct`, which is the model itself, are lost. */
function noteCaller(item: Members): void {
  const caller = item.any('caller')
  if (isRecord(caller) && caller.type !== 'direct') {
    item.drop('caller', 'in other formats, only the model itself can call tools')
  }
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

const noChecks = 'other formats have no safety checks'

/** Ids and states refer to items stored at the vendor. Nothing is lost without them. */
const bookkeeping = ['id', 'status', 'created_by']

const losses = {
  acknowledged_safety_checks: noChecks,
  pending_safety_checks: noChecks,
  async: 'other formats do not support asynchronous calls',
  phase: 'other formats do not mark phases of an answer',
}

/** Items of tools that the vendor ran. The answer after them contains the results. */
const vendorsWork: ReadonlyMap<string, string> = new Map([
  ['web_search_call', 'a search run by the vendor; the following answer contains the results'],
  ['file_search_call', 'a search run by the vendor; the following answer contains the results'],
  ['code_interpreter_call', 'code run by the vendor; the following answer contains the results'],
  ['mcp_list_tools', 'a list of tools that the vendor calls itself'],
  ['mcp_call', 'a call made by the vendor itself; the following answer contains the results'],
  ['program', 'a program run by the vendor; the following answer contains the results'],
  ['program_output', 'a program run by the vendor; the following answer contains the results'],
])

const noSuchTool = 'a call of a tool that only this format supports'

const refusals: ReadonlyMap<string, string> = new Map([
  ['item_reference', 'item_reference: items are not stored here; send the item itself'],
  ['compaction', 'compaction: only the vendor that created it can read it'],
  ['compaction_trigger', 'compaction_trigger: other formats cannot compact a conversation'],
  [
    'image_generation_call',
    'image_generation_call: other vendors cannot read an image stored at its own vendor',
  ],
  ['mcp_approval_request', `mcp_approval_request: ${noSuchTool}`],
  ['mcp_approval_response', `mcp_approval_response: ${noSuchTool}`],
])
