import type { ToolCallBlock, ToolResultBlock } from '../../canonical/chat.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Json } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import type { Notes } from '../notes.ts'
import type { ToolNames } from '../tool-names.ts'
import { encodePart, noteCache } from './encode-parts.ts'
import { callIdRules } from './wire.ts'

/** Matches calls and their results. Each assistant message has a group for its calls. */
export class CallBook {
  readonly #notes: Notes
  readonly #tools: ToolNames
  readonly #groups: Group[] = []
  /** Calls by the client's ids. If an id comes in several messages, those of the last message. */
  readonly #byId = new Map<string, { group: Group; entries: Entry[] }>()

  constructor({ notes, tools }: { notes: Notes; tools: ToolNames }) {
    this.#notes = notes
    this.#tools = tools
  }

  startGroup(): number {
    return this.#groups.push({ entries: [], wireIds: new Set(), hasResults: false }) - 1
  }

  hasResults(group: number): boolean {
    return this.#groups[group]?.hasResults ?? false
  }

  /** Add a call to the last group. */
  addCall(call: ToolCallBlock): void {
    const group = this.#groups.at(-1)
    if (group === undefined) throw new Error('a call needs its message first')
    const legal = legalCallId(call.id, callIdRules)
    // The seed contains a space, which no id may have. So the id becomes a hash of it.
    const wireId = group.wireIds.has(legal)
      ? legalCallId(`${legal} ${group.wireIds.size}`, callIdRules)
      : legal
    group.wireIds.add(wireId)
    const entry: Entry = { call, wireId, result: undefined }
    group.entries.push(entry)
    const known = this.#byId.get(call.id)
    if (known?.group === group) known.entries.push(entry)
    else this.#byId.set(call.id, { group, entries: [entry] })
  }

  addResult(result: ToolResultBlock): void {
    const known = this.#byId.get(result.callId)
    const entry = known?.entries.shift()
    if (known === undefined || entry === undefined) {
      const id = result.callId.slice(0, 64)
      throw invalid(
        result.path,
        `expected the result of an earlier call, got one with the id "${id}", for which no call waits`,
      )
    }
    entry.result = result
    known.group.hasResults = true
    if (known.group !== this.#groups.at(-1)) {
      this.#notes.add('mapped', result.path, 'it is moved behind its call, where the format requires it')
    }
  }

  /** The calls of a group, and the messages that must follow them. */
  write(group: number): { calls: Json[]; results: Json[] } {
    const entries = this.#groups[group]?.entries ?? []
    const media: Json[] = []
    const results = entries.map((entry) => this.#result(entry, media))
    if (media.length > 0) results.push({ role: 'user', content: media })
    return { calls: entries.map((entry) => this.#call(entry)), results }
  }

  #call({ call, wireId }: Entry): Json {
    const { kind, input } = call
    const wireName = this.#tools.wireName(call, call.path)
    if (kind === 'custom') return { id: wireId, type: 'custom', custom: { name: wireName, input } }
    return {
      id: wireId,
      type: 'function',
      function: { name: wireName, arguments: input === '' ? '{}' : input },
    }
  }

  /** Adds parts other than text to `media`. */
  #result({ call, wireId, result }: Entry, media: Json[]): Json {
    if (result === undefined) {
      this.#notes.add('defaulted', call.path, 'this call has no result: "[no result]" takes its place')
      return { role: 'tool', tool_call_id: wireId, content: '[no result]' }
    }
    const texts: string[] = []
    for (const block of result.content) {
      noteCache(block, this.#notes)
      for (const part of encodePart(block, this.#notes)) {
        if (typeof part.text === 'string') texts.push(part.text)
        else {
          if (media.length === 0) media.push({ type: 'text', text: 'Files that the tools gave back:' })
          media.push(part)
          texts.push('[The file follows in the next message.]')
          this.#notes.add('mapped', block.path, 'it is moved to a user message: results hold only text')
        }
      }
    }
    const text = texts.join('\n')
    if (!result.isError) return { role: 'tool', tool_call_id: wireId, content: text }
    this.#notes.add('emulated', result.path, 'the format has no mark for errors: the text says it')
    return { role: 'tool', tool_call_id: wireId, content: `Error: ${text}` }
  }
}

interface Group {
  entries: Entry[]
  wireIds: Set<string>
  hasResults: boolean
}

interface Entry {
  call: ToolCallBlock
  wireId: string
  result: ToolResultBlock | undefined
}
