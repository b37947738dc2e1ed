import type { TranslationNote } from '../canonical/chat.ts'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import { estimateTokens } from '../canonical/tokens.ts'
import type { Usage } from '../canonical/usage.ts'
import { isEmptyAnswer } from './no-answer.ts'
import type { Observation } from './protocol.ts'

/** The observation of an answer if nothing, or nothing readable, arrived. */
export const nothingObserved: Observation = {
  usage: undefined,
  finishReason: undefined,
  servedModel: undefined,
  error: undefined,
  complete: false,
  outputTokensEstimate: 0,
}

/** Collects from canonical events what the usage log records about an answer, for all protocols. */
export class EventObserver {
  #answerId: string | undefined
  #usage: Usage | undefined
  #startUsage: Usage | undefined
  #finishReason: string | undefined
  #servedModel: string | undefined
  #error: GatewayError | undefined
  #complete = false
  #textBytes = 0
  #hasContent = false
  #hasBlock = false
  #none: GatewayError | undefined
  #losses: readonly TranslationNote[] | undefined

  /** What a translation of the answer loses. */
  get losses(): readonly TranslationNote[] | undefined {
    return this.#losses
  }

  /** Whether the first piece of content has arrived. */
  get hasContent(): boolean {
    return this.#hasContent
  }

  /** Whether the answer is over. */
  get isOver(): boolean {
    return this.#complete || this.#error !== undefined
  }

  take(event: ChatEvent): void {
    switch (event.type) {
      case 'start':
        this.#answerId = event.id
        this.#servedModel = event.model
        this.#startUsage = event.usage
        return
      case 'block-start':
        this.#hasBlock ||= event.block.type === 'web-search'
        if (event.block.type === 'tool-call') this.#hasContent = true
        return
      case 'block-delta':
        this.#hasContent = true
        if (event.delta.type === 'text') this.#textBytes += Buffer.byteLength(event.delta.text)
        return
      case 'block-end':
        return
      case 'finish':
        this.#complete = true
        this.#finishReason = event.upstreamReason ?? event.reason
        this.#usage = event.usage
        this.#losses = event.losses
        if (!this.#hasContent && !this.#hasBlock && event.losses === undefined && event.usage !== undefined)
          this.#none = isEmptyAnswer(event.reason, event.usage)
            ? gatewayError('upstream_answer_empty')
            : undefined
        return
      case 'error':
        this.#error = event.error
        this.#usage ??= event.usage
        return
    }
  }

  observe(): Observation {
    const soFar = this.#usage === undefined ? this.#usageSoFar() : undefined
    return {
      answerId: this.#answerId,
      usage: this.#usage ?? soFar,
      ...(soFar === undefined ? {} : { isPartial: true }),
      finishReason: this.#finishReason,
      servedModel: this.#servedModel,
      error: this.#error,
      complete: this.#complete,
      ...(this.#none && { none: this.#none }),
      outputTokensEstimate: this.#outputTokensEstimate(),
    }
  }

  /**
   * The counts of a stream without final counts: the input as reported at the start, and an estimate of the
   * output.
   */
  #usageSoFar(): Usage | undefined {
    if (this.#startUsage === undefined) return undefined
    return { ...this.#startUsage, output: Math.max(this.#startUsage.output, this.#outputTokensEstimate()) }
  }

  #outputTokensEstimate(): number {
    return estimateTokens(this.#textBytes)
  }
}
