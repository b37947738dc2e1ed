/** One event of a stream. */
export interface ServerSentEvent {
  /** Empty where the stream names no event. */
  event: string
  data: string
}

/** The events of a whole stream, and what is left after the last blank line: not empty when the stream was cut. */
export function eventsIn(text: string): { events: ServerSentEvent[]; rest: string } {
  const blocks = text.replace(/^\uFEFF/, '').split(/\r\n\r\n|\n\n|\r\r/)
  const rest = blocks.pop() ?? ''
  return { events: blocks.flatMap(eventIn), rest: rest.trim() }
}

/** None for a block of comments. */
function eventIn(block: string): ServerSentEvent[] {
  let event = ''
  const data: string[] = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field, value = ''] = /^([a-z]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  }
  return data.length === 0 ? [] : [{ event, data: data.join('\n') }]
}

/** The data as JSON; undefined when it is none. */
export function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
