import { fork } from 'node:child_process'
import type { ArchivePass } from './archive-pass.ts'
import type { FromArchiver } from './archiver-process.ts'
import type { ArchiverOptions } from './options.ts'

/**
 * One pass in a process of its own, so that it takes neither memory nor time of requests. `pass` is null where another archiver
 * works. `stop` ends it at once: the next pass goes on where it was.
 */
export function startArchiver(options: ArchiverOptions): { pass: Promise<ArchivePass | null>; stop(): void } {
  const child = fork(new URL('./archiver-process.ts', import.meta.url), {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.unref()
  child.channel?.unref()
  const pass = new Promise<ArchivePass | null>((resolve, reject) => {
    child.once('message', (message: FromArchiver) => {
      if ('failed' in message) reject(new Error(message.failed))
      else resolve(message.pass)
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`the archiver ended (${signal ?? code})`)))
  })
  child.send(options)
  return { pass, stop: () => void child.kill('SIGKILL') }
}
