import type { AnswerBlock, ChatEvent, Delta, FinishReason } from '../canonical/event.ts'
import { redactText } from '../redaction/redact.ts'

/** A choice of a response, as stored in the usage log. */
export interface AnswerChoice {
  content: AnswerPart[]
  /** Null if the client did not get the end. */
  end: FinishReason | null
  /** The error that the client got instead of the end. */
  error?: string
}

export type AnswerPart =
  | { type: 'text'; text: string; citations?: { url: string; title: string | undefined }[] }
  | { type: 'reasoning'; summary: boolean; text: string }
  | { type: 'refusal'; text: string }
  | { type: 'tool_call'; id: string; name: string; namespace?: string; input: string }
  | {
      type: 'web_search'
      queries: string[]
      sources: { url: string; title: string | undefined }[]
      failure?: string
    }

interface Block {
  block: AnswerBlock
  /** The pieces of the text, the thought, the refusal or the call's input. */
  pieces: string[]
  others: Exclude<Delta, { type: 'text' } | { type: 'signature' }>[]
  hasEnded: boolean
}

/**
 * Assembles the events of one choice. Signatures and encrypted thoughts are left out, because they are not
 * text and clients send them back.
 */
export class AnswerParts {
  readonly #blocks = new Map<number, Block>()
  #end: FinishReason | null = null
  #error: string | undefined

  /** Ignores events after the end or after an error, because they are not part of the response. */
  take(event: ChatEvent): void {
    if (this.#end !== null || this.#error !== undefined) return
    switch (event.type) {
      case 'start':
        return
      case 'block-start':
        this.#blocks.set(event.index, { block: event.block, pieces: [], others: [], hasEnded: false })
        return
      case 'block-delta':
        this.#takeDelta(event.index, event.delta)
        return
      case 'block-end': {
        const block = this.#blocks.get(event.index)
        if (block !== undefined) block.hasEnded = true
        return
      }
      case 'finish':
        this.#end = event.reason
        return
      case 'error':
        this.#error = event.error.message
        return
    }
  }

  /**
   * Returns the choice without secrets. `cutBytes` is how much is removed from the end of an unfinished text,
   * which may end with part of a secret that cannot be recognised without the rest.
   */
  choice(exact: readonly string[], cutBytes: number): AnswerChoice {
    const content = [...this.#blocks.values()].flatMap((block) => partOf(block, exact, cutBytes) ?? [])
    const error = this.#error === undefined ? {} : { error: redactText(this.#error, exact) }
    return { content, end: this.#end, ...error }
  }

  #takeDelta(index: number, delta: Delta): void {
    const block = this.#blocks.get(index)
    if (block === undefined || delta.type === 'signature') return
    if (delta.type === 'text') block.pieces.push(delta.text)
    else block.others.push(delta)
  }
}

/** Returns undefined if nothing in the block is readable, as in an encrypted thought. */
function partOf({ block, pieces, others, hasEnded }: Block, exact: readonly string[], cutBytes: number) {
  // Not shortened, because the limit on a stored response covers its parts.
  const clean = (text: string) => redactText(text, exact, text.length)
  const whole = pieces.join('')
  const text = hasEnded
    ? whole
    : withoutTornSecret(whole.slice(0, Math.max(0, whole.length - cutBytes)), exact)
  switch (block.type) {
    case 'text': {
      const citations = others.flatMap((delta) => (delta.type === 'citation' ? [pageOf(delta, clean)] : []))
      return part({ type: 'text', text: clean(text), ...(citations.length > 0 && { citations }) }, text)
    }
    case 'reasoning':
      return part({ type: 'reasoning', summary: block.summary, text: clean(text) }, text)
    case 'refusal':
      return part({ type: 'refusal', text: clean(text) }, text)
    case 'tool-call':
      return part({
        type: 'tool_call',
        id: clean(block.id),
        name: clean(block.name),
        ...(block.namespace !== undefined && { namespace: clean(block.namespace) }),
        input: clean(text),
      })
    case 'web-search': {
      const failure = others.find((delta) => delta.type === 'search-failure')?.code
      return part({
        type: 'web_search',
        queries: others.flatMap((delta) => (delta.type === 'query' ? [clean(delta.query)] : [])),
        sources: others.flatMap((delta) => (delta.type === 'source' ? [pageOf(delta, clean)] : [])),
        ...(failure !== undefined && { failure: clean(failure) }),
      })
    }
  }
}

/** `text` is absent for parts that are stored even without text. */
function part(kept: AnswerPart, text?: string): AnswerPart | undefined {
  return text === '' ? undefined : kept
}

function pageOf({ url, title }: { url: string; title: string | undefined }, clean: (text: string) => string) {
  return { url: clean(url), title: title === undefined ? undefined : clean(title) }
}

/**
 * Removes the first part of a secret from the end of an interrupted text, because searching for the whole
 * secret would not find it.
 */
function withoutTornSecret(text: string, exact: readonly string[]): string {
  let end = text.length
  for (const secret of exact) {
    for (let length = Math.min(secret.length - 1, text.length); length >= tornCharactersMin; length--) {
      if (!text.endsWith(secret.slice(0, length))) continue
      end = Math.min(end, text.length - length)
      break
    }
  }
  return text.slice(0, end)
}

/** A shorter part of a secret reveals nothing. */
const tornCharactersMin = 6
