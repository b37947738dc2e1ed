import type { Database } from '../db/database.ts'
import { repeatedly } from '../runtime/repeatedly.ts'
import type { Log } from '../telemetry/log.ts'
import { endVerification, renewVerification, type VerificationEnd } from './verification-queries.ts'
import { runVerification } from './verify.ts'

interface Parts {
  database: Pick<Database, 'state' | 'verify'>
  log: Log
}

/**
 * The verification that this process runs for an admin. Its row, which all processes can read, contains its
 * progress.
 */
export class Verifications {
  readonly #parts: Parts
  #leave = new AbortController()
  #running = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Runs a verification that already has a row. Never throws, because the row records how it ends. */
  start(id: string, since: string | undefined): void {
    const leave = new AbortController()
    this.#leave = leave
    this.#running = this.#running.then(() => this.#run(id, since, leave))
  }

  /** Ends the running verification and its statement. */
  async close(): Promise<void> {
    this.#leave.abort({
      state: 'failed',
      error: 'The process that ran it was stopped. Start it again.',
    } satisfies VerificationEnd)
    await this.#running
  }

  async #run(id: string, since: string | undefined, leave: AbortController): Promise<void> {
    const { database, log } = this.#parts
    let progress = { done: 0, of: 0, doing: '' }
    const signs = repeatedly(
      async () => {
        const isWanted = await database.state.ask(({ db }) => renewVerification(db, id, progress))
        if (!isWanted) leave.abort({ state: 'cancelled' } satisfies VerificationEnd)
      },
      {
        pauseMs: signMs,
        onFailure: (error) =>
          log.warn({ cause: String(error) }, 'the progress of a verification could not be recorded'),
      },
    )
    const end = await this.#verify(since, leave.signal, (next) => {
      progress = next
    })
    await signs.stop()
    await database.state
      .ask(({ db }) => endVerification(db, id, end, progress))
      // Without further signs of life, the row counts as one of a dead process.
      .catch((error: unknown) =>
        log.warn({ cause: String(error) }, 'the end of a verification could not be recorded'),
      )
    const broken = end.state === 'ended' ? end.findings.filter(({ differences }) => differences > 0) : []
    if (broken.length > 0) log.error({ rules: broken.map(({ rule }) => rule) }, 'the ledger does not verify')
  }

  async #verify(
    since: string | undefined,
    signal: AbortSignal,
    tell: Parameters<typeof runVerification>[2],
  ): Promise<VerificationEnd> {
    const { verify } = this.#parts.database
    try {
      const found = await runVerification(
        (statement) => verify.ask(({ sql }) => statement(sql), { signal }),
        since,
        tell,
      )
      return { state: 'ended', ...found }
    } catch (error) {
      if (signal.aborted) return signal.reason
      return { state: 'failed', error: error instanceof Error ? error.message : String(error) }
    }
  }
}

const signMs = 1_000
