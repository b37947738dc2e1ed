import { GatewayError } from '../../canonical/error.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import { unwrapCustomInput } from '../custom-tools.ts'
import type { EventWriter } from '../event-writer.ts'
import { JsonEnd } from '../json-end.ts'
import type { ClientTool, ClientTools } from '../tool-names.ts'
import { callIdRules, jsonOf } from './wire.ts'

/**
 * Puts tool calls together from their fragments. A call begins when its name and id are known. Fragments of several calls may
 * interleave, so a call stays open until its JSON is whole and something else comes, or until the answer ends.
 */
export class CallDecoder {
  readonly #writer: EventWriter
  readonly #tools: ClientTools | undefined
  readonly #calls: Call[] = []
  /** The call of the last fragment. */
  #last: Call | undefined
  readonly #byIndex = new Map<number, Call>()
  readonly #ids = new Set<string>()

  constructor(writer: EventWriter, tools: ClientTools | undefined) {
    this.#writer = writer
    this.#tools = tools
  }

  get count(): number {
    return this.#calls.length
  }

  /** Take one element of `tool_calls`, whole or a fragment. */
  take(fragment: Json): void {
    const isCustom = isRecord(fragment.custom)
    const body = isCustom ? fragment.custom : fragment.function
    const { name, arguments: args, input } = isRecord(body) ? body : nothing
    const id = textOf(fragment.id)
    const call = this.#callOf(fragment.index, id, textOf(name))
    if (call !== this.#last) this.endWhole()
    this.#last = call
    call.id ??= id
    call.name ??= textOf(name)
    call.isCustom ||= isCustom || fragment.type === 'custom'
    this.#add(call, inputText(isCustom ? input : args))
    if (call.block === undefined && call.id !== undefined && call.name !== undefined)
      this.#start(call, call.id)
  }

  /** End the call of the last fragment if its JSON is whole: something else comes. */
  endWhole(): void {
    const call = this.#last
    if (call?.block !== undefined && !call.isCustom && call.json.isWhole) this.#end(call, call.block)
  }

  /** End all calls. Throws GatewayError `upstream_error` for a call without a name. */
  end(answerId: string | undefined): void {
    for (const [position, call] of this.#calls.entries()) {
      if (call.block === undefined) this.#start(call, call.id ?? madeId(`${answerId ?? ''} ${position}`))
      if (call.block !== undefined) this.#end(call, call.block)
    }
  }

  #end(call: Call, block: number): void {
    if (call.hasEnded) return
    call.hasEnded = true
    if (call.isWrapped) this.#writer.text(block, unwrapCustomInput(call.held.join('')))
    this.#writer.end(block)
  }

  /**
   * The call that a fragment belongs to. Some upstreams send no `index`, and some send 0 for every call: a fragment
   * with another id and a name begins a new call.
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
      json: new JsonEnd(),
      hasEnded: false,
    }
    this.#calls.push(call)
    if (isIndexed) this.#byIndex.set(index, call)
    return call
  }

  #add(call: Call, text: string): void {
    if (text === '') return
    if (call.hasEnded) {
      if (text.trim() === '') return
      throw new GatewayError(
        'upstream_error',
        'The upstream sent more arguments for a tool call that was whole.',
      )
    }
    if (!call.isCustom) call.json.push(text)
    if (call.block === undefined || call.isWrapped) call.held.push(text)
    else this.#writer.text(call.block, text)
  }

  #start(call: Call, id: string): void {
    const { name } = call
    if (name === undefined) {
      throw new GatewayError('upstream_error', 'The upstream sent a tool call without a name.')
    }
    const tool: ClientTool = this.#tools?.clientTool(name) ?? { name, kind: 'function' }
    const uniqueId = this.#ids.has(id) ? madeId(`${id} ${this.#ids.size}`) : id
    this.#ids.add(uniqueId)
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
  /** The upstream knows this custom tool as a function `{ input }`. Its text is held until it is whole. */
  isWrapped: boolean
  /** Undefined until the call has begun. */
  block: number | undefined
  held: string[]
  /** The end of the arguments, which are a JSON object. */
  json: JsonEnd
  hasEnded: boolean
}

const nothing: Json = {}

/** Some upstreams send the arguments as an object. */
function inputText(value: unknown): string {
  if (isRecord(value)) return jsonOf(value)
  return typeof value === 'string' ? value : ''
}

/** The seed contains a space, which no id may have. So the id becomes a hash of it. */
function madeId(seed: string): string {
  return legalCallId(seed, callIdRules)
}
