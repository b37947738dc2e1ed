import { EventReader } from './sse.ts'

/** An answer as a reader sees it, in any of the formats, as far as it has come. */
export interface Answer {
  text: string
  reasoning: string
  toolCalls: { name: string; input: string }[]
  /** Addresses of pictures; `data:` ones too. */
  images: string[]
  /** Of an answer that is not text: how many numbers, how many vectors. */
  vectors: { count: number; dimensions: number } | undefined
  finish: string | undefined
  /** In the words of the format. */
  error: string | undefined
}

/** Collects an answer from its bytes as text: one JSON document, or server-sent events. */
export class AnswerReader {
  readonly answer: Answer = {
    text: '',
    reasoning: '',
    toolCalls: [],
    images: [],
    vectors: undefined,
    finish: undefined,
    error: undefined,
  }
  readonly #isStream: boolean
  readonly #events = new EventReader()
  readonly #calls = new Map<string, { name: string; input: string }>()
  #body = ''

  constructor(contentType: string | null) {
    this.#isStream = contentType?.includes('event-stream') ?? false
  }

  add(part: string): void {
    if (!this.#isStream) this.#body += part
    else for (const { data } of this.#events.add(part)) this.#event(data)
  }

  end(): void {
    if (this.#isStream) for (const { data } of this.#events.end()) this.#event(data)
    else {
      const value = parsed(this.#body)
      if (value !== undefined) this.#whole(value)
    }
  }

  #event(data: string): void {
    const value = parsed(data)
    if (value === undefined) return
    if (value.error) this.answer.error = errorOf(value)
    if (Array.isArray(value.choices)) this.#chatPart(value)
    else if (typeof value.type === 'string') this.#typedPart(value, value.type)
  }

  #chatPart({ choices }: Json): void {
    for (const choice of choices as Json[]) {
      const delta = (choice.delta ?? {}) as Json
      this.answer.text += text(delta.content)
      this.answer.reasoning += text(delta.reasoning_content ?? delta.reasoning)
      for (const call of list(delta.tool_calls)) {
        const { name, arguments: input } = (call.function ?? {}) as Json
        this.#call(String(call.index ?? 0), text(name), text(input))
      }
      if (typeof choice.finish_reason === 'string') this.answer.finish = choice.finish_reason
    }
  }

  #typedPart(value: Json, type: string): void {
    const delta = (typeof value.delta === 'object' ? value.delta : {}) as Json
    if (type === 'content_block_delta') {
      this.answer.text += text(delta.text)
      this.answer.reasoning += text(delta.thinking)
      if (typeof delta.partial_json === 'string') this.#call(String(value.index), '', delta.partial_json)
    } else if (type === 'content_block_start') {
      const block = (value.content_block ?? {}) as Json
      if (block.type === 'tool_use') this.#call(String(value.index), text(block.name), '')
      this.answer.text += text(block.text)
    } else if (type === 'message_delta') {
      if (typeof delta.stop_reason === 'string') this.answer.finish = delta.stop_reason
    } else if (type === 'response.output_text.delta') this.answer.text += text(value.delta)
    else if (/^response\.reasoning.*\.delta$/.test(type)) this.answer.reasoning += text(value.delta)
    else if (type === 'response.output_item.added') {
      const item = (value.item ?? {}) as Json
      if (item.type === 'function_call')
        this.#call(String(item.id ?? value.output_index), text(item.name), '')
    } else if (type === 'response.function_call_arguments.delta')
      this.#call(String(value.item_id ?? value.output_index), '', text(value.delta))
    else if (/^response\.(completed|incomplete|failed)$/.test(type)) {
      const response = (value.response ?? {}) as Json
      this.answer.finish = text(response.status)
      if (response.error) this.answer.error = errorOf(response)
    } else if (
      /^image_generation\.(completed|partial_image)$/.test(type) &&
      typeof value.b64_json === 'string'
    ) {
      this.answer.images = [picture(value)]
    }
  }

  #call(id: string, name: string, input: string): void {
    const known = this.#calls.get(id)
    if (known !== undefined) {
      known.name += name
      known.input += input
      return
    }
    const call = { name, input }
    this.#calls.set(id, call)
    this.answer.toolCalls.push(call)
  }

  #whole(value: Json): void {
    const { answer } = this
    if (value.error) answer.error = errorOf(value)
    for (const choice of list(value.choices)) {
      const message = (choice.message ?? {}) as Json
      answer.text += text(message.content)
      answer.reasoning += text(message.reasoning_content ?? message.reasoning)
      for (const call of list(message.tool_calls)) {
        const { name, arguments: input } = (call.function ?? {}) as Json
        answer.toolCalls.push({ name: text(name), input: text(input) })
      }
      answer.finish = text(choice.finish_reason)
    }
    for (const block of list(value.content)) {
      answer.text += text(block.text)
      answer.reasoning += text(block.thinking)
      if (block.type === 'tool_use')
        answer.toolCalls.push({ name: text(block.name), input: JSON.stringify(block.input) })
    }
    if (typeof value.stop_reason === 'string') answer.finish = value.stop_reason
    for (const item of list(value.output)) {
      for (const part of list(item.content)) answer.text += text(part.text)
      for (const part of list(item.summary)) answer.reasoning += text(part.text)
      if (item.type === 'function_call')
        answer.toolCalls.push({ name: text(item.name), input: text(item.arguments) })
    }
    if (Array.isArray(value.output)) answer.finish = text(value.status)
    const data = list(value.data)
    answer.images = data.flatMap((one) =>
      typeof one.url === 'string' ? [one.url] : typeof one.b64_json === 'string' ? [picture(one)] : [],
    )
    const [first] = data
    if (first !== undefined && 'embedding' in first) {
      const { embedding } = first
      answer.vectors = {
        count: data.length,
        dimensions: Array.isArray(embedding) ? embedding.length : 0,
      }
    }
  }
}

type Json = Record<string, unknown>

function picture({ b64_json, output_format }: Json): string {
  const kind = typeof output_format === 'string' ? output_format : 'png'
  return `data:image/${kind};base64,${b64_json}`
}

/** The sentence of an error, whichever format it is in. */
function errorOf(value: Json): string {
  const error = value.error as Json | string
  if (typeof error === 'string') return error
  return text(error.message) || JSON.stringify(error)
}

function parsed(data: string): Json | undefined {
  if (!data.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(data) as Json
  } catch {
    return undefined
  }
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
