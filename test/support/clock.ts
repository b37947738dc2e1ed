import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'

/** The clock of the day of a process that is started with `env`. Monotonic clocks and timers stay right, as in life. */
export interface Clock {
  env: { NODE_OPTIONS: string; TEST_CLOCK_FILE: string }
  /** So far from the true time, from within a few milliseconds on, until the next jump. */
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
