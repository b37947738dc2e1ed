import type { Worker } from 'node:worker_threads'
import { renewalDue } from '../src/catalog/library/renew.ts'
import type { FromRenewalThread, RenewalTask } from '../src/catalog/library/renewal-thread.ts'
import type { Context } from '../src/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'
import { startThread } from '../src/runtime/start-thread.ts'

const everyMs = 600_000
const askMs = 5_000
/** A thread that takes longer is ended. */
const threadMs = 300_000

/**
 * Fetches the library's prices every day, where gateway.yaml asks for it. Any number of processes may run it:
 * one of them fetches. When it fails, the prices stay as they are.
 */
export function renewPrices(context: Pick<Context, 'database' | 'databaseUrl' | 'log'>): {
  stop(): Promise<void>
} {
  const { database, databaseUrl, log } = context
  let worker: Worker | undefined
  let stopped = false
  const fail = (cause: string) =>
    log.warn({ cause: redactText(cause) }, 'prices could not be renewed; those in force stay')
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
      else log.info({ added: message.added }, 'prices are renewed')
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
