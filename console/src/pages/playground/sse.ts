/** One server-sent event. */
export interface ServerEvent {
  event: string
  data: string
}

/** Reads server-sent events from parts of a text, wherever the parts are cut. */
export class EventReader {
  #rest = ''

  /** The events that are whole now. */
  add(part: string): ServerEvent[] {
    const text = this.#rest + part
    // A \r at the end may belong to a \n that has not come.
    const cut = text.endsWith('\r') ? text.length - 1 : text.length
    const blocks = text.slice(0, cut).replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n\n')
    this.#rest = (blocks.pop() ?? '') + text.slice(cut)
    return blocks.flatMap(eventOf)
  }

  /** What was not ended by an empty line, as an event: a stream that was cut shows its last piece. */
  end(): ServerEvent[] {
    const rest = this.#rest
    this.#rest = ''
    return eventOf(rest)
  }
}

function eventOf(block: string): ServerEvent[] {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(event|data): ?(.*)$/.exec(line) ?? []
    if (name === 'event') event = value
    if (name === 'data') data.push(value)
  }
  return data.length === 0 ? [] : [{ event, data: data.join('\n') }]
}
