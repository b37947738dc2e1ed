import type { Config } from '../../config/config.ts'
import type { OnRow } from '../../journal/record.ts'
import type { Unlogged } from '../../pipeline/gateway.ts'
import type { Log } from '../../telemetry/log.ts'

export interface RequestLines {
  row: OnRow
  /** Called with the requests of dead processes whose rows this process has written. */
  adopted: (rows: { orphans: readonly string[] }) => void
  /** Undefined if such requests are not logged. */
  unlogged: ((request: Unlogged) => void) | undefined
}

/**
 * Logs a line for each request that has ended, according to ACCESS_LOG. A line contains the facts of the row,
 * without texts from clients and upstreams. The number of lines about refusals is limited, because anyone can
 * be refused a thousand times a second.
 */
export function requestLines(
  { accessLog, bounds }: Pick<Config, 'accessLog' | 'bounds'>,
  log: Log,
): RequestLines | undefined {
  if (accessLog === 'off') return undefined
  const isForAll = accessLog === 'all'
  const budget = (perSecond: number, of: string) =>
    new LineBudget(perSecond, (leftOut) =>
      log.info(
        { leftOut },
        `too many requests of ${of} were refused or failed within one second; these were not logged`,
      ),
    )
  const unknown = budget(bounds.unknownLinesPerSecond, 'callers without a valid key')
  const known = budget(bounds.failureLinesPerSecond, 'callers with a key')
  return {
    row(open, close, job) {
      const { outcome, error } = close
      const isFailure = outcome !== 'succeeded' && outcome !== 'cancelled'
      if (!isForAll && !isFailure) return
      if (open.keyId === null ? !unknown.take() : !isForAll && !known.take()) return
      log.info(
        {
          request: open.id,
          endpoint: open.endpoint,
          status: close.status,
          outcome,
          error: error?.kind,
          reason: error?.reason,
          upstreamStatus: error?.upstreamStatus ?? undefined,
          tenant: open.tenantId ?? undefined,
          key: open.keyId ?? undefined,
          channel: close.channel ?? undefined,
          ms: close.totalMs,
          ...(job === 'job' && { by: 'job' }),
        },
        messages[outcome],
      )
    },
    adopted({ orphans }) {
      for (const request of orphans)
        if (isForAll || known.take())
          log.info(
            { request, outcome: 'orphaned', error: 'internal', reason: 'process_ended' },
            messages.orphaned,
          )
    },
    unlogged: isForAll
      ? ({ id, path, status, identity, ms }) =>
          log.info(
            {
              request: id,
              endpoint: path,
              status,
              tenant: identity?.tenantId,
              key: identity?.keyId,
              ms,
            },
            'a request without a row was answered',
          )
      : undefined,
  }
}

const messages = {
  succeeded: 'a request was answered',
  failed: 'a request failed',
  refused: 'a request was refused',
  cancelled: 'the client of a request disconnected',
  orphaned: 'a request was lost with its process',
} as const

const windowMs = 1_000

/** Allows a number of lines per second, and reports at the end of each second how many were left out. */
class LineBudget {
  readonly #perSecond: number
  readonly #onLeftOut: (lines: number) => void
  #taken = 0
  #leftOut = 0
  #window: NodeJS.Timeout | undefined

  constructor(perSecond: number, onLeftOut: (lines: number) => void) {
    this.#perSecond = perSecond
    this.#onLeftOut = onLeftOut
  }

  /** Returns false if the line must not be written. */
  take(): boolean {
    this.#window ??= setTimeout(() => this.#end(), windowMs).unref()
    if (this.#taken < this.#perSecond) {
      this.#taken++
      return true
    }
    this.#leftOut++
    return false
  }

  #end(): void {
    this.#window = undefined
    this.#taken = 0
    const leftOut = this.#leftOut
    this.#leftOut = 0
    if (leftOut > 0) this.#onLeftOut(leftOut)
  }
}
