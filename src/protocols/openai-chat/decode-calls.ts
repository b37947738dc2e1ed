import { gatewayError } from '../../canonical/error.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import { madeCallId } from '../call-ids.ts'
import { inputText } from '../call-input.ts'
import { unwrapCustomInput } from '../custom-tools.ts'
import type { EventWriter } from '../event-writer.ts'
import type { DecodeAnswerContext } from '../protocol.ts'
import type { ClientTool } from '../tool-names.ts'
import { writeExtraSignature } from './wire.ts'

/**
 * Assembles tool calls from their fragments. A call starts when its name and id are known. A name can arrive
 * in pieces, so a name that is only the beginning of a tool's name waits for an argument or for what follows
 * it. Fragments of several calls can interleave, so a call stays open until its JSON is complete and
 * something else arrives, or until the answer ends.
 */
export class CallDecoder {
  readonly #writer: EventWriter
  readonly #context: DecodeAnswerContext
  readonly #calls: Call[] = []
  /** The call of the last fragment. */
  #last: Call | undefined
  readonly #byIndex = new Map<number, Call>()
  readonly #ids = new Set<string>()

  constructor(writer: EventWriter, context: DecodeAnswerContext) {
    this.#writer = writer
    this.#context = context
  }

  get count(): number {
    return this.#calls.length
  }

  /** Handles one element of `tool_calls`, complete or a fragment. */
  take(fragment: Json): void {
    const isCustom = isRecord(fragment.custom)
    const body = isCustom ? fragment.custom : fragment.function
    const { name, arguments: args, input } = isRecord(body) ? body : nothing
    const id = textOf(fragment.id)
    const call = this.#callOf(fragment.index, id, textOf(name))
    if (call !== this.#last) this.endWhole()
    this.#last = call
    call.id ??= id
    if (call.block === undefined) call.name = joinedName(call.name, textOf(name))
    call.isCustom ||= isCustom || fragment.type === 'custom'
    if (isRecord(fragment.extra_content)) call.extra = fragment.extra_content
    const text = inputText(isCustom ? input : args)
    this.#add(call, text)
    if (text !== '' || call.name === undefined || this.#context.tools?.isPiece(call.name) !== true)
      this.#startNamed(call)
  }

  /** Ends the call of the last fragment if its JSON is complete, because something else follows. */
  endWhole(): void {
    const call = this.#last
    if (call !== undefined) this.#startNamed(call)
    if (call?.block !== undefined && !call.isCustom && call.json.isWhole) this.#end(call, call.block)
  }

  /** Ends all calls. Throws GatewayError `upstream_error` for a call without a name. */
  end(answerId: string | undefined): void {
    for (const [position, call] of this.#calls.entries()) {
      if (call.block === undefined)
        this.#start(call, call.id ?? madeCallId(`${answerId ?? this.#context.answerSeed ?? ''} ${position}`))
      if (call.block !== undefined) this.#end(call, call.block)
    }
  }

  #startNamed(call: Call): void {
    if (call.block === undefined && call.id !== undefined && call.name !== undefined)
      this.#start(call, call.id)
  }

  /**
   * Writes a reasoning block without text before the call, which carries the data that the vendor expects
   * back.
   */
  #sign(id: string, extra: Json): void {
    const index = this.#writer.start({ type: 'reasoning', summary: false })
    const { upstreamModel: model } = this.#context
    const value = writeExtraSignature('tool_call', extra)
    this.#writer.delta(index, {
      type: 'signature',
      signature: { protocol: 'openai-chat', model, kind: 'encrypted', value, id },
    })
    this.#writer.end(index)
  }

  #end(call: Call, block: number): void {
    if (call.hasEnded) return
    call.hasEnded = true
    if (call.isWrapped) this.#writer.text(block, unwrapCustomInput(call.held.join('')))
    this.#writer.end(block)
  }

  /**
   * Returns the call that a fragment belongs to. Some upstreams send no `index`, and some send 0 for every
   * call, so a fragment with another id and a name starts a new call.
   */
  #callOf(index: unknown, id: string | undefined, name: string | undefined): Call {
    const isIndexed = typeof index === 'number'
    const known = isIndexed ? this.#byIndex.get(index) : this.#calls.at(-1)
    if (known !== undefined) {
      const isOther = id !== undefined && known.id !== undefined && known.id !== id
      const isNext = isIndexed
        ? isOther && name !== undefined
        : isOther || (id === undefined && name !== undefined)
      if (!isNext) return known
    }
    const call: Call = {
      id,
      name,
      isCustom: false,
      isWrapped: false,
      block: undefined,
      held: [],
      text: '',
      extra: undefined,
      json: new JsonEnd(),
      hasEnded: false,
    }
    this.#calls.push(call)
    if (isIndexed) this.#byIndex.set(index, call)
    return call
  }

  #add(call: Call, text: string): void {
    if (text === '') return
    if (call.hasEnded || (!call.isCustom && call.json.isWhole)) {
      // Some upstreams repeat all the arguments: https://github.com/NousResearch/hermes-agent/issues/8259,
      // read 2026-11-28
      if (text.trim() === '' || text === call.text) return
      throw gatewayError('upstream_call_broken', {
        how: 'sent more arguments for a tool call that was already complete.',
      })
    }
    call.text += text
    if (!call.isCustom) call.json.push(text)
    if (call.block === undefined || call.isWrapped) call.held.push(text)
    else this.#writer.text(call.block, text)
  }

  #start(call: Call, id: string): void {
    const { name } = call
    if (name === undefined) {
      throw gatewayError('upstream_call_broken', { how: 'sent a tool call without a name.' })
    }
    const tool: ClientTool = this.#context.tools?.clientTool(name) ?? { name, kind: 'function' }
    const uniqueId = this.#ids.has(id) ? madeCallId(`${id} ${this.#ids.size}`) : id
    this.#ids.add(uniqueId)
    if (call.extra !== undefined) this.#sign(uniqueId, call.extra)
    call.isWrapped = tool.kind === 'custom' && !call.isCustom
    call.block = this.#writer.start({
      type: 'tool-call',
      id: uniqueId,
      name: tool.name,
      ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
      kind: call.isCustom ? 'custom' : tool.kind,
    })
    if (call.isWrapped) return
    this.#writer.text(call.block, call.held.join(''))
    call.held = []
  }
}

interface Call {
  id: string | undefined
  name: string | undefined
  isCustom: boolean
  /** The upstream knows this custom tool as a function `{ input }`. Its text is held until it is complete. */
  isWrapped: boolean
  /** Undefined until the call has started. */
  block: number | undefined
  held: string[]
  /** The input so far. */
  text: string
  /** Data that the vendor expects back with the call, such as the signature of a thought. */
  extra: Json | undefined
  /** Finds the end of the arguments, which are a JSON object. */
  json: JsonEnd
  hasEnded: boolean
}

const nothing: Json = {}

/** Appends the next piece to a name. Some upstreams repeat the whole name, or everything so far. */
function joinedName(known: string | undefined, piece: string | undefined): string | undefined {
  if (known === undefined || piece === undefined) return known ?? piece
  return piece.startsWith(known) ? piece : known + piece
}

/** Finds the end of a JSON object that arrives in pieces. Does not check the grammar. */
class JsonEnd {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isWhole = false

  /** Whether the object's closing brace has arrived. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  push(text: string): void {
    for (let at = 0; at < text.length && !this.#isWhole; at++) this.#take(text.charCodeAt(at))
  }

  #take(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isInString) {
      if (code === backslash) this.#isEscaped = true
      else if (code === quote) this.#isInString = false
    } else if (code === quote) this.#isInString = true
    else if (code === openBrace || code === openBracket) this.#depth++
    else if (code === closeBrace || code === closeBracket) {
      this.#depth--
      this.#isWhole = this.#depth === 0
    }
  }
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
