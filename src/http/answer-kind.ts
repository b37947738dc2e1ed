/** The kind of an answer's bytes: server-sent events, one JSON document, or something else. */
export type AnswerKind = 'events' | 'json' | 'other'

export const contentTypes = { events: 'text/event-stream', json: 'application/json' } as const

/** Returns the kind that the content type declares. A media type may be in capital letters. */
export function kindOfLabel(contentType: string): AnswerKind {
  if (/^text\/event-stream/i.test(contentType)) return 'events'
  return /json/i.test(contentType) ? 'json' : 'other'
}

/**
 * Returns the kind that the first bytes show, or undefined when there are too few. Servers send streams as
 * text/plain, as JSON or without a content type, and label errors as streams:
 * https://github.com/containers/ramalama/issues/2837.
 */
export function kindOfBytes(begin: Buffer): AnswerKind | undefined {
  // A byte order mark has three bytes.
  let at = begin[0] === 0xef ? 3 : 0
  if (begin.length < at) return undefined
  while (at < begin.length && isBlank(begin[at])) at++
  if (at === begin.length) return begin.length < blankMax ? undefined : 'other'
  if (begin[at] === 0x7b || begin[at] === 0x5b) return 'json'
  const line = begin.toString('latin1', at, at + 'event:'.length)
  if (/^(data|event|id|retry)?:/.test(line)) return 'events'
  const mayGoOn = fields.some((field) => field.length > line.length && field.startsWith(line))
  return mayGoOn ? undefined : 'other'
}

/** Returns a complete answer without its byte order mark, which RFC 8259 forbids and JSON parsers reject. */
export function withoutMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
}

/** After this many blank bytes, the kind is taken to be unknown. */
const blankMax = 4096
const fields = ['data:', 'event:', 'id:', 'retry:']

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
