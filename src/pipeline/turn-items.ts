import { type ByteRange, kindAt } from '../protocols/json-scan.ts'
import { splice } from '../protocols/splice.ts'

// Items of the Responses format as JSON text, without the surrounding brackets, so that several turns can be
// joined without parsing.

/** The items of `input`, which is an array of items or one user text. */
export function itemsIn(body: Buffer, input: ByteRange | undefined): string {
  if (input === undefined || kindAt(body, input.start) === 'null') return ''
  const text = body.toString('utf8', input.start, input.end)
  if (kindAt(body, input.start) === 'string') return `{"type":"message","role":"user","content":${text}}`
  return text.slice(1, -1).trim()
}

/**
 * Returns the request with earlier items before its own, in place of the id of the answer that it continues.
 * `before` is the id of the answer before those items.
 */
export function withHistory(
  body: Buffer,
  { input, previous }: { input: ByteRange | undefined; previous: ByteRange },
  history: string,
  before?: string,
): Buffer {
  const continued = before === undefined ? 'null' : JSON.stringify(before)
  const items = `[${[history, itemsIn(body, input)].filter((each) => each !== '').join(',')}]`
  if (input === undefined) {
    return splice(
      body,
      [{ ...previous, bytes: Buffer.from(`${continued},"input":${items}`) }],
      Buffer.allocUnsafe,
    )
  }
  const edits = [
    { ...previous, bytes: Buffer.from(continued) },
    { ...input, bytes: Buffer.from(items) },
  ]
  return splice(body, edits, Buffer.allocUnsafe)
}
