import { type Answer, answerText, usage } from './answers.ts'

/**
 * The first fault in the translation of the mock's `answer` for a Messages client: the order of the events, the text, the
 * stop reason, the usage. Undefined when all are right.
 */
export function messagesFault(answer: Answer, body: string): string | undefined {
  try {
    const parts = answer.kind === 'json' ? wholeMessage(body) : streamedMessage(body, answer.events)
    const wanted = {
      text: answerText(answer),
      stop: 'end_turn',
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
    }
    for (const name of ['text', 'stop', 'input', 'output'] as const) {
      if (parts[name] !== wanted[name])
        return `${name}: ${brief(parts[name])} instead of ${brief(wanted[name])}`
    }
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

interface Parts {
  text: string
  stop: string | null | undefined
  input: number | undefined
  output: number | undefined
}

interface WireMessage {
  content: { text?: string }[]
  stop_reason: string | null
  usage?: WireUsage
}

interface WireEvent {
  type: string
  delta?: { text?: string; stop_reason?: string | null }
  usage?: WireUsage
}

interface WireUsage {
  input_tokens?: number
  output_tokens?: number
}

function wholeMessage(body: string): Parts {
  const message = JSON.parse(body) as WireMessage
  return {
    text: message.content.map((block) => block.text ?? '').join(''),
    stop: message.stop_reason,
    input: message.usage?.input_tokens,
    output: message.usage?.output_tokens,
  }
}

function streamedMessage(body: string, contentEvents: number): Parts {
  const frames = body.split('\n\n')
  if (frames.pop() !== '') throw new Error('the stream ends within an event')
  const events = frames.map(readFrame)
  const order = ['message_start', 'content_block_start']
  for (let index = 0; index < contentEvents; index++) order.push('content_block_delta')
  order.push('content_block_stop', 'message_delta', 'message_stop')
  order.forEach((type, index) => {
    const found = events[index]?.type
    if (found !== type) throw new Error(`event ${index}: ${found ?? 'none'} instead of ${type}`)
  })
  if (events.length > order.length) throw new Error(`${events.length - order.length} events after the last`)
  const end = events.at(-2)
  return {
    text: events.map((event) => event.delta?.text ?? '').join(''),
    stop: end?.delta?.stop_reason,
    input: end?.usage?.input_tokens,
    output: end?.usage?.output_tokens,
  }
}

function readFrame(frame: string): WireEvent {
  const [, name, data = ''] = /^event: (.+)\ndata: (.+)$/.exec(frame) ?? []
  const event = JSON.parse(data) as WireEvent
  if (event.type !== name) throw new Error(`an event named ${name} of type ${event.type}`)
  return event
}

function brief(value: string | number | null | undefined): string {
  return typeof value === 'string' && value.length > 40 ? `${value.length} characters` : String(value)
}
