import type { AnswerRecord } from '../journal/answer-record.ts'
import type { ClientAnswerFormat } from './answer-choices.ts'
import { AnswerCopy, type CopiedAnswer } from './answer-copy.ts'
import type { BodyThreads } from './body-threads.ts'

export interface CapturedAnswersOptions {
  /** Uses separate threads, because responses must not delay the bodies of requests. */
  threads: Pick<BodyThreads, 'run' | 'close'>
  ledger: { keep(record: AnswerRecord): void; drop(reason: string): void }
  bounds: { captureAnswerBytesMax: number; captureAnswerHeldBytesMax: number; captureAnswersBytesMax: number }
}

export interface BegunAnswer {
  /** The id of the request. */
  id: string
  keyId: string
  format: ClientAnswerFormat
  /** Whether the response is sent as server-sent events. */
  streams: boolean
  /** Returns the secrets that must not appear in any text. Called when the response has ended. */
  secrets(): readonly string[]
}

/**
 * Captures the responses for keys that have this enabled. The bytes are copied while they are sent to the
 * client; after the last byte, a thread assembles the text, tool calls and reasoning. Neither the client nor
 * the row waits for this.
 */
export class CapturedAnswers {
  readonly #options: CapturedAnswersOptions
  #bytes = 0
  readonly #running = new Set<Promise<void>>()

  constructor(options: CapturedAnswersOptions) {
    this.#options = options
  }

  /** Starts a copy of a response. */
  begin(answer: BegunAnswer): AnswerCopy {
    const { captureAnswerHeldBytesMax } = this.#options.bounds
    return new AnswerCopy(this.#takeMemory, captureAnswerHeldBytesMax, (copied) => {
      const run = this.#assemble(answer, copied).finally(() => {
        this.#bytes -= copied.bytesTaken
        this.#running.delete(run)
      })
      this.#running.add(run)
    })
  }

  /** Waits at most this long for the responses being assembled. The rest are lost. */
  async end(waitMs: number): Promise<void> {
    let late: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      late = setTimeout(resolve, waitMs)
    })
    await Promise.race([Promise.all(this.#running), patience])
    clearTimeout(late)
    await this.#options.threads.close()
    await Promise.all(this.#running)
  }

  readonly #takeMemory = (bytes: number): boolean => {
    if (this.#bytes + bytes > this.#options.bounds.captureAnswersBytesMax) return false
    this.#bytes += bytes
    return true
  }

  async #assemble(answer: BegunAnswer, { pieces, isCut }: CopiedAnswer): Promise<void> {
    const { threads, ledger, bounds } = this.#options
    const { id, keyId, format, streams } = answer
    if (pieces.length === 0) {
      ledger.drop('CAPTURE_ANSWERS_BYTES_MAX was reached')
      return
    }
    try {
      const bytesMax = bounds.captureAnswerBytesMax
      const input = { pieces, format, streams, isCut, exact: answer.secrets(), bytesMax }
      const assembled = await threads.run(keyId, { name: 'answer', input }).done
      if (assembled === undefined) return
      const { bytes, truncated } = assembled
      ledger.keep({ id, capture: 'content', truncated, answer: bytes })
    } catch {
      ledger.drop('the thread that assembles responses failed')
    }
  }
}
