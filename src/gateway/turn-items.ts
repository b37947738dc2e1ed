import { type ByteRange, kindAt } from '../protocols/json-scan.ts'
import { splice } from '../protocols/splice.ts'

// Items of the Responses format, as JSON text without the brackets around them: so texts of several turns are
// joined without parsing.

/** The items of `input`: an array of them, or one text of the user. */
export function itemsIn(body: Buffer, input: ByteRange | undefined): string {
  if (input === undefined || kindAt(body, input.start) === 'null') return ''
  const text = body.toString('utf8', input.start, input.end)
  if (kindAt(body, input.start) === 'string') return `{"type":"message","role":"user","content":${text}}`
  return text.slice(1, -1).trim()
}

/**
 * The request with earlier items before its own, in place of the id of the answer that it continues.
 * `before`: the answer before these items.
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
