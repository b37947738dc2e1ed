import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { BuildMessage } from './build.ts'
import { buildPages } from './build-pages.ts'

/**
 * Builds the pages of a checkout into its console/dist, unless they are as new as their sources: of the first argument, or of
 * this one. `npm run build:pages` runs it too.
 */

const ended = new Set<BuildMessage['event']>(['built', 'fresh', 'failed'])

function tell(message: BuildMessage): void {
  if (process.send === undefined) process.stdout.write(`${inWords(message)}\n`)
  else if (ended.has(message.event)) process.send(message, () => process.disconnect?.())
  else process.send(message, () => {})
  if (message.event === 'failed') process.exitCode = 1
}

function inWords(message: BuildMessage): string {
  switch (message.event) {
    case 'begun':
      return 'building the pages'
    case 'read':
      return `${message.modules} modules are read`
    case 'built':
      return `pages built in ${message.seconds.toFixed(1)} s`
    case 'fresh':
      return 'the pages are as new as their sources'
    case 'failed':
      return `the pages cannot be built: ${message.reason}`
  }
}

// Requests come first. The threads of the bundler inherit this.
setPriority(10)
// The gateway has ended, however it ended.
process.once('disconnect', () => process.exit())
await buildPages(process.argv[2] ?? join(import.meta.dirname, '../..'), tell)
// A bundler may hold something open.
if (process.send === undefined) process.exit()
