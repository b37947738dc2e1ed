import { type Json, recordsOf, textOf } from '../../../../src/canonical/json.ts'
import { Refusal } from '../check.ts'

const bytesMax = 32 * 1024 * 1024

interface Held {
  response: Json
  /** The whole conversation with the items of the answer. */
  items: Json[]
  bytes: number
}

/** The latest answers, in memory: clients may continue, fetch and delete them. */
export class HeldResponses {
  readonly #responses = new Map<string, Held>()
  #bytes = 0

  add(id: string, response: Json, items: Json[]): void {
    this.#drop(id)
    const bytes = Buffer.byteLength(JSON.stringify(items)) + Buffer.byteLength(JSON.stringify(response))
    this.#responses.set(id, { response, items, bytes })
    this.#bytes += bytes
    for (const oldest of this.#responses.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#drop(oldest)
    }
  }

  /** Throws Refusal. */
  get(id: string): Json {
    return this.#find(id).response
  }

  /** Throws Refusal. */
  delete(id: string): Json {
    this.#find(id)
    this.#drop(id)
    return { id, object: 'response', deleted: true }
  }

  /** The items of a request's conversation, with those that it only refers to. Throws Refusal. */
  conversation(body: Json): Json[] {
    const previous = textOf(body.previous_response_id)
    const before = previous === undefined ? [] : this.#previous(previous)
    const input =
      typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : recordsOf(body.input)
    return [...before, ...input.map((item) => (item.type === 'item_reference' ? this.#item(item) : item))]
  }

  #previous(id: string): Json[] {
    const held = this.#responses.get(id)
    if (held !== undefined) return held.items
    throw new Refusal(400, `Previous response with id '${id}' not found.`, {
      field: 'previous_response_id',
      code: 'previous_response_not_found',
    })
  }

  #item({ id }: Json): Json {
    for (const { items } of this.#responses.values()) {
      const found = items.find((item) => item.id === id)
      if (found !== undefined) return found
    }
    throw new Refusal(404, `Item with id '${String(id).slice(0, 80)}' not found.`, { field: 'input' })
  }

  #find(id: string): Held {
    const held = this.#responses.get(id)
    if (held === undefined) throw new Refusal(404, `Response with id '${id.slice(0, 80)}' not found.`)
    return held
  }

  #drop(id: string): void {
    this.#bytes -= this.#responses.get(id)?.bytes ?? 0
    this.#responses.delete(id)
  }
}
