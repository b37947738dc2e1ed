import { fork } from 'node:child_process'
import type { ArchivePass } from './archive-pass.ts'
import type { ArchiverTask, FromArchiver } from './archiver-process.ts'
import type { ArchiverOptions } from './options.ts'
import type { Removals, RewriteReport } from './rewrite-day.ts'

/**
 * An archiver in a separate process, so that it uses neither memory nor event-loop time of the gateway.
 * `done` is null if another archiver is running. `stop` kills the process; the next archiver continues its
 * work.
 */
export interface RunningArchiver<Done> {
  done: Promise<Done | null>
  stop(): void
}

/** Starts one pass over the days that are due. */
export function startPass(options: ArchiverOptions): RunningArchiver<ArchivePass> {
  return start({ kind: 'pass', options }, (message) => ('pass' in message ? message.pass : null))
}

/**
 * Starts deleting content or rows from the archive: see rewriteWithout(). `from` and `to` are inclusive days.
 */
export function startRewrite(
  options: ArchiverOptions,
  { from, to, removals }: { from: string; to: string; removals: Removals },
): RunningArchiver<RewriteReport> {
  const task: ArchiverTask = { kind: 'rewrite', options, from, to, removals }
  return start(task, (message) => ('rewritten' in message ? message.rewritten : null))
}

function start<Done>(
  task: ArchiverTask,
  doneOf: (message: FromArchiver) => Done | null,
): RunningArchiver<Done> {
  const child = fork(new URL('./archiver-process.ts', import.meta.url), {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.unref()
  child.channel?.unref()
  const done = new Promise<Done | null>((resolve, reject) => {
    child.once('message', (message: FromArchiver) => {
      if ('failed' in message) reject(new Error(message.failed))
      else resolve(doneOf(message))
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`the archiver exited (${signal ?? code})`)))
  })
  child.send(task)
  return { done, stop: () => void child.kill('SIGKILL') }
}
