import type { AnswerFormat } from '../bodies/answer-choices.ts'
import type { BodyThreads } from '../bodies/body-threads.ts'
import type { AnswerRecord } from '../ledger/answer-record.ts'
import type { Admitted } from './admit.ts'
import { AnswerCopy, type CopiedAnswer } from './answer-copy.ts'
import { secretsOf } from './redact-error.ts'

export interface CapturedAnswersOptions {
  /** Threads of their own: answers must not keep the bodies of requests waiting. */
  threads: Pick<BodyThreads, 'run' | 'close'>
  ledger: { keep(record: AnswerRecord): void; drop(reason: string): void }
  bounds: { captureAnswerBytesMax: number; captureAnswerHeldBytesMax: number; captureAnswersBytesMax: number }
}

/**
 * Captures the answers of keys that ask for it: a copy of the bytes while they go to the client, and after the last byte a
 * thread that puts text, tool calls and reasoning together. Neither the client nor the row waits for it.
 */
export class CapturedAnswers {
  readonly #options: CapturedAnswersOptions
  #bytes = 0
  readonly #running = new Set<Promise<void>>()

  constructor(options: CapturedAnswersOptions) {
    this.#options = options
  }

  /** A copy of the answer that begins; undefined: this answer is not captured. */
  begin(
    admitted: Pick<Admitted, 'id' | 'identity' | 'group' | 'endpoint' | 'row' | 'token'>,
    streams: boolean,
  ) {
    const { identity, group, endpoint } = admitted
    const isWanted = identity.capture === 'content' && (identity.captureAnswers ?? group.captureAnswers)
    const { answers: format } = endpoint
    if (!isWanted || format === undefined) return undefined
    const { captureAnswerHeldBytesMax } = this.#options.bounds
    return new AnswerCopy(this.#takeMemory, captureAnswerHeldBytesMax, (copied) => {
      const run = this.#assemble(admitted, { format, streams }, copied).finally(() => {
        this.#bytes -= copied.bytesTaken
        this.#running.delete(run)
      })
      this.#running.add(run)
    })
  }

  /** Wait for what is being put together, for this long at most. The rest is lost. */
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

  async #assemble(
    admitted: Parameters<CapturedAnswers['begin']>[0],
    form: { format: AnswerFormat; streams: boolean },
    { pieces, isCut }: CopiedAnswer,
  ): Promise<void> {
    const { threads, ledger, bounds } = this.#options
    const { id, identity } = admitted
    if (pieces.length === 0) {
      ledger.drop('CAPTURE_ANSWERS_BYTES_MAX is reached')
      return
    }
    try {
      const exact = secretsOf(admitted)
      const input = { pieces, ...form, isCut, exact, bytesMax: bounds.captureAnswerBytesMax }
      const assembled = await threads.run(identity.keyId, { name: 'answer', input }).done
      if (assembled === undefined) return
      const { bytes, truncated } = assembled
      ledger.keep({ id, capture: 'content', truncated, answer: bytes })
    } catch {
      ledger.drop('the thread that puts answers together has failed')
    }
  }
}
