interface ServerEvent {
  event: string
  data: string
  id: string | undefined
}

/** The events of an answer. https://html.spec.whatwg.org/multipage/server-sent-events.html */
export async function* serverEvents(answer: Response): AsyncGenerator<ServerEvent> {
  let text = ''
  for await (const piece of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += piece
    const blocks = text.split(/\r?\n\r?\n/)
    text = blocks.pop() ?? ''
    for (const block of blocks) yield eventOf(block)
  }
}

function eventOf(block: string): ServerEvent {
  const found: ServerEvent = { event: 'message', data: '', id: undefined }
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(event|data|id): ?(.*)$/.exec(line) ?? []
    if (name === 'event') found.event = value
    if (name === 'id') found.id = value
    if (name === 'data') found.data = found.data === '' ? value : `${found.data}\n${value}`
  }
  return found
}
