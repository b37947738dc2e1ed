import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'
import { archiverOf } from '../src/usage/archive/open-archive.ts'
import { startPass } from '../src/usage/archive/start-archiver.ts'

/** How often a process checks whether a pass is due. */
const lookMs = 30_000
const everyMs = 3_600_000
const askMs = 5_000
/** A longer pass is interrupted, and the next one continues. */
const passMs = 6 * 3_600_000

/**
 * Moves days older than HOT_DAYS into the archive, with one pass an hour, and one whenever an admin requests
 * it. It can run in any number of processes, but only one of them archives.
 */
export function archiveLog(context: Pick<Context, 'config' | 'database' | 'databaseUrl' | 'log'>): {
  stop(): Promise<void>
} {
  const { config, database, databaseUrl, log } = context
  const options = archiverOf(config, databaseUrl)
  if (options === undefined) return { stop: async () => {} }
  let running: ReturnType<typeof startPass> | undefined
  let stopped = false
  const fail = (error: unknown) =>
    log.error({ cause: redactText(String(error)) }, 'the usage log could not be archived; Postgres keeps it')
  const look = async () => {
    const isDue = await database.state
      .ask(
        // This also runs while nothing is archived, because files may reach the end of their retention.
        ({ sql }) => sql<{ mine: boolean }[]>`
          SELECT claim_sweep('archive', ${everyMs * 0.75}::integer) AS mine
          WHERE ${options.hotDays}::integer > 0 OR EXISTS (SELECT FROM archived_days)`,
        { withinMs: askMs },
      )
      .then(([claim]) => claim?.mine === true)
      .catch(() => false)
    if (!isDue || stopped) return
    const archiver = startPass(options)
    running = archiver
    const timeout = setTimeout(archiver.stop, passMs).unref()
    try {
      const pass = await archiver.done
      if (pass !== null && pass.doubles > 0)
        log.warn(
          { rows: pass.doubles },
          'rows of the usage log arrived that were already archived; they were deleted, and the sums corrected',
        )
      if (pass !== null && pass.archived + pass.expired > 0)
        log.info({ archived: pass.archived, expired: pass.expired }, 'days of the usage log were archived')
      for (const { table, day, reason } of pass?.failed ?? [])
        log.error(
          { table, day, cause: redactText(reason) },
          'a day of the usage log could not be archived; Postgres keeps it',
        )
    } catch (error) {
      if (!stopped) fail(error)
    } finally {
      clearTimeout(timeout)
      running = undefined
    }
  }
  const looking = repeatedly(look, { pauseMs: lookMs, atOnce: true, unref: true, onFailure: fail })
  return {
    async stop() {
      stopped = true
      running?.stop()
      await looking.stop()
    },
  }
}
