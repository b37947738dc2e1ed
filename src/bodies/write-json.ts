import type { Json } from '../canonical/json.ts'

/**
 * The long texts of one conversation as JSON, so that those which came before are not quoted again. Forgets
 * what the last two bodies did not have.
 */
export class QuotedTexts {
  #newer = new Map<string, Buffer>()
  #older = new Map<string, Buffer>()

  /** Begins a body. */
  begin(): void {
    this.#older = this.#newer
    this.#newer = new Map()
  }

  quote(text: string): Buffer {
    const known = this.#newer.get(text)
    if (known !== undefined) return known
    const quoted = this.#older.get(text) ?? Buffer.from(JSON.stringify(text))
    this.#newer.set(text, quoted)
    return quoted
  }
}

/**
 * The bytes of `JSON.stringify(value)`, for a value of plain objects, lists, texts, numbers and raw numbers.
 * `allocate` returns memory of at least this size.
 */
export function writeJson(value: Json, texts: QuotedTexts, allocate: (bytes: number) => Buffer): Buffer {
  texts.begin()
  const pieces = new Pieces(texts)
  pieces.write(value)
  return pieces.joined(allocate)
}

/** From this length on, a look-up costs less than quoting. In UTF-16 units. */
const longText = 128

class Pieces {
  readonly #texts: QuotedTexts
  readonly #done: (string | Buffer)[] = []
  #bytes = 0
  /** What follows the last piece. */
  #text = ''

  constructor(texts: QuotedTexts) {
    this.#texts = texts
  }

  write(value: unknown): void {
    if (typeof value === 'string' && value.length >= longText) this.#push(this.#texts.quote(value))
    else if (typeof value !== 'object' || value === null || JSON.isRawJSON(value))
      this.#text += JSON.stringify(value) ?? 'null'
    else if (Array.isArray(value)) this.#writeList(value)
    else this.#writeObject(value as Json)
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

  #writeObject(object: Json): void {
    let before = '{'
    for (const name of Object.keys(object)) {
      const value = object[name]
      if (value === undefined) continue
      this.#text += `${before}${JSON.stringify(name)}:`
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
