/** One server-sent event. */
export interface ServerEvent {
  /** Empty if the stream does not name the event. */
  event: string
  data: string
}

/**
 * Reads the events of a whole stream. `isCut`: there is text after the last blank line.
 *
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream, read 2026-11-29
 */
export function readEvents(text: string): { events: ServerEvent[]; isCut: boolean } {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const frames = lines.split(/\n\n+/)
  return { events: frames.flatMap(eventIn), isCut: lines.trim() !== '' && !lines.endsWith('\n\n') }
}

/** A frame without a `data:` line, such as a comment, is no event. */
function eventIn(frame: string): ServerEvent[] {
  const valuesOf = (name: string) =>
    frame
      .split('\n')
      .filter((line) => line === name || line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
  const data = valuesOf('data')
  return data.length === 0 ? [] : [{ event: valuesOf('event').at(-1) ?? '', data: data.join('\n') }]
}
