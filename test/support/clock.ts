import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'

/** The wall clock of a process that is started with `env`. Its monotonic clocks and its timers stay right, as in real life. */
export interface Clock {
  env: { NODE_OPTIONS: string; TEST_CLOCK_FILE: string }
  /** Within a few milliseconds the clock is `ms` away from the true time. It stays so until the next jump. */
  jump(ms: number): void
}

export function testClock(): Clock {
  const file = join(tmpdir(), `tollgate-clock-${process.pid}-${counted++}`)
  writeFileSync(file, '0')
  onTestFinished(() => rmSync(file, { force: true }))
  const preload = pathToFileURL(join(import.meta.dirname, 'clock-preload.ts'))
  return {
    env: { NODE_OPTIONS: `--import=${preload.href}`, TEST_CLOCK_FILE: file },
    jump: (ms) => writeFileSync(file, String(ms)),
  }
}

let counted = 0
