import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'

const processes = 4
/** In one process. */
const ends = amount('THREAD_ENDS', { test: 6, chaos: 300 })

/** Only a test that fails waits this long. */
const waitMs = Math.max(120_000, ends * 10_000)

test(
  'threads of busy processes end while others compile, and no process dies of it',
  async () => {
    const reports = await Promise.all(Array.from({ length: processes }, endThreads))
    const all = { code: 0, signal: null, out: `${ends} threads ended\n`, complaint: '' }
    expect(reports).toEqual(Array.from({ length: processes }, () => all))
  },
  waitMs,
)

async function endThreads() {
  const child = spawn(process.execPath, ['test/support/thread-ends-process.ts'], {
    env: { ...process.env, ENDS: String(ends) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [[code, signal], out, complaint] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, signal, out, complaint }
}
