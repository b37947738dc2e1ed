import type { Json } from '../canonical/json.ts'
import type { TurnMemo } from '../protocols/turn-memo.ts'

/**
 * The bytes of `JSON.stringify(value)`, for a value of plain objects, lists, texts, numbers and raw numbers.
 * `allocate` returns memory of at least this size.
 */
export function writeJson(value: Json, memo: TurnMemo, allocate: (bytes: number) => Buffer): Buffer {
  const pieces = new Pieces(memo)
  pieces.write(value)
  return pieces.joined(allocate)
}

/** From this length on, a look-up costs less than quoting. In UTF-16 units. */
const longText = 128

/** The members with a client's own schema, which every format passes on as the object that it is. */
const schemas: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'parametersJsonSchema'])

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

class Pieces {
  readonly #memo: TurnMemo
  readonly #done: (string | Buffer)[] = []
  #bytes = 0
  /** What follows the last piece. */
  #text = ''

  constructor(memo: TurnMemo) {
    this.#memo = memo
  }

  write(value: unknown): void {
    if (typeof value === 'string' && value.length >= longText) this.#push(this.#memo.quote(value))
    else if (typeof value !== 'object' || value === null || JSON.isRawJSON(value))
      this.#text += JSON.stringify(value) ?? 'null'
    else if (Array.isArray(value)) this.#writeList(value)
    else this.#writeOnce(value as Json)
  }

  joined(allocate: (bytes: number) => Buffer): Buffer {
    this.#flush()
    const body = allocate(this.#bytes)
    let at = 0
    for (const piece of this.#done) {
      if (typeof piece === 'string') at += body.write(piece, at, 'utf8')
      else {
        body.set(piece, at)
        at += piece.length
      }
    }
    return body.subarray(0, this.#bytes)
  }

  #writeList(list: readonly unknown[]): void {
    this.#text += '['
    for (let at = 0; at < list.length; at++) {
      if (at > 0) this.#text += ','
      this.write(list[at])
    }
    this.#text += ']'
  }

  #writeOnce(object: Json): void {
    const known = this.#memo.written.get(object)
    if (known === undefined) this.#writeObject(object)
    else if (known !== 'wanted') this.#push(known)
    else {
      const own = new Pieces(this.#memo)
      own.#writeObject(object)
      const written = own.joined(Buffer.allocUnsafe)
      this.#memo.written.set(object, written)
      this.#push(written)
    }
  }

  #want(object: object): void {
    if (this.#memo.written.get(object) === undefined) this.#memo.written.set(object, 'wanted')
  }

  #writeObject(object: Json): void {
    let before = '{'
    for (const name of Object.keys(object)) {
      const value = object[name]
      if (value === undefined) continue
      this.#text += `${before}${JSON.stringify(name)}:`
      if (schemas.has(name) && isObject(value)) this.#want(value)
      this.write(value)
      before = ','
    }
    this.#text += before === '{' ? '{}' : '}'
  }

  #push(piece: Buffer): void {
    this.#flush()
    this.#done.push(piece)
    this.#bytes += piece.length
  }

  #flush(): void {
    if (this.#text === '') return
    this.#done.push(this.#text)
    this.#bytes += Buffer.byteLength(this.#text)
    this.#text = ''
  }
}
