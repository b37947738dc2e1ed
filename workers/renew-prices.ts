import type { Worker } from 'node:worker_threads'
import { renewalDue } from '../src/catalog/library/renew.ts'
import type { FromRenewalThread, RenewalTask } from '../src/catalog/library/renewal-thread.ts'
import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'
import { startThread } from '../src/runtime/start-thread.ts'

const everyMs = 600_000
const askMs = 5_000
/** A thread that takes longer is terminated. */
const threadMs = 300_000

/**
 * Fetches the library's prices every day if gateway.yaml enables it. It can run in any number of processes,
 * but only one of them fetches. If it fails, the prices stay as they are.
 */
export function renewPrices(context: Pick<Context, 'database' | 'databaseUrl' | 'log'>): {
  stop(): Promise<void>
} {
  const { database, databaseUrl, log } = context
  let worker: Worker | undefined
  let stopped = false
  const fail = (cause: string) =>
    log.warn({ cause: redactText(cause) }, 'prices could not be renewed; those in force are kept')
  const renew = async () => {
    const url = await database.state
      .ask(({ db }) => renewalDue(db), { withinMs: askMs })
      .catch(() => undefined)
    if (url === undefined || stopped) return
    const task: RenewalTask = { url, databaseUrl }
    const thread = startThread(new URL('../src/catalog/library/renewal-thread.ts', import.meta.url), {
      workerData: task,
    })
    thread.unref()
    worker = thread
    const timeout = setTimeout(() => void thread.terminate(), threadMs).unref()
    thread.on('message', (message: FromRenewalThread) => {
      if ('failed' in message) fail(message.failed)
      else log.info({ added: message.added }, 'prices were renewed')
    })
    thread.on('error', (error) => fail(String(error)))
    await new Promise<void>((resolve) => {
      thread.once('exit', () => resolve())
    })
    clearTimeout(timeout)
    worker = undefined
  }
  const renewing = repeatedly(renew, {
    pauseMs: everyMs,
    atOnce: true,
    unref: true,
    onFailure: (error) => fail(String(error)),
  })
  return {
    async stop() {
      stopped = true
      await worker?.terminate()
      await renewing.stop()
    },
  }
}
