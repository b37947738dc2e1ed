import { afterEach, expect, test } from 'vitest'
import type { BodyThreadData } from '../../src/bodies/body-thread.ts'
import { BodyThreads, type BodyThreadsOptions } from '../../src/bodies/body-threads.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import { until } from '../support/until.ts'

/** The pool of threads for large bodies: who is next, how many wait, and what happens when a thread dies. */

const data: BodyThreadData = {
  envelopeKeys: [Buffer.alloc(32)],
  bounds: { jsonDepthMax: 128, jsonValuesMax: 250_000 },
  redaction: { key: Buffer.alloc(32), bytesMax: 1000, stringBytesMax: 100 },
}
const obedient = new URL('../support/body-thread-process.ts', import.meta.url)
const logged: string[] = []
const open: BodyThreads[] = []

function start(options: Partial<BodyThreadsOptions> = {}): BodyThreads {
  const threads = new BodyThreads({
    threads: 1,
    waitingMax: 8,
    heapBytesMax: 64 * 1024 * 1024,
    data,
    log: relayLog((_level, _fields, message) => logged.push(message)),
    script: obedient,
    ...options,
  })
  open.push(threads)
  return threads
}

afterEach(async () => {
  logged.length = 0
  for (const threads of open.splice(0)) await threads.close()
})

/** A body in memory that the thread shares with the test. */
function shared(words: string): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(words.length))
  bytes.write(words)
  return bytes
}

function ask(threads: BodyThreads, key: string, bytes: Buffer = shared('go')) {
  const format = { kind: 'text', protocol: 'openai-chat' } as const
  const job = threads.run(key, { name: 'own', input: { bytes, format } })
  job.done.catch(() => {})
  return job
}

test('the many bodies of one key keep a body of another waiting for one job at most', async () => {
  const threads = start()
  const first = shared('wait')
  const order: string[] = []
  const jobs = [ask(threads, 'greedy', first)]
  for (const name of ['greedy', 'greedy', 'greedy', 'modest', 'greedy']) jobs.push(ask(threads, name))
  const names = ['greedy 1', 'greedy 2', 'greedy 3', 'greedy 4', 'modest', 'greedy 5']
  jobs.forEach(({ done }, index) => void done.then(() => order.push(names[index] ?? '')))
  expect(threads.state()).toEqual({ threads: 1, waiting: 5, done: 0 })
  first[0] = 0
  await Promise.all(jobs.map(({ done }) => done))
  expect(order).toEqual(['greedy 1', 'greedy 2', 'modest', 'greedy 3', 'greedy 4', 'greedy 5'])
  await until(() => threads.state().done === 6)
  expect(threads.state()).toEqual({ threads: 1, waiting: 0, done: 6 })
})

test('beyond their bound, bodies are refused: of one key with 429, of all with 503, both with Retry-After', async () => {
  const threads = start({ waitingMax: 4 })
  const first = shared('wait')
  const jobs = [ask(threads, 'a', first)]
  threads.requireRoom('a')
  for (const name of ['a', 'a']) jobs.push(ask(threads, name))
  expect(() => threads.requireRoom('a')).toThrow(
    expect.objectContaining({ reason: 'key_body_queue_full', retryAfterSeconds: 1 }),
  )
  threads.requireRoom('b')
  for (const name of ['b', 'c']) jobs.push(ask(threads, name))
  for (const name of ['b', 'c', 'd']) {
    expect(() => threads.requireRoom(name)).toThrow(
      expect.objectContaining({ reason: 'body_queue_full', retryAfterSeconds: 1 }),
    )
  }
  first[0] = 0
  await Promise.all(jobs.map(({ done }) => done))
  threads.requireRoom('a')
})

test('a request that ends takes its body out of the queue', async () => {
  const threads = start()
  const first = shared('wait')
  const running = ask(threads, 'a', first)
  const waiting = ask(threads, 'a')
  expect(threads.state().waiting).toBe(1)
  const gone = errorOfKind('upstream_error', 'The client went away.')
  waiting.abort(gone)
  running.abort(gone)
  expect(threads.state().waiting).toBe(0)
  await expect(waiting.done).rejects.toBe(gone)
  await expect(running.done).rejects.toBe(gone)
  first[0] = 0
  await ask(threads, 'a').done
})

test('a thread that dies fails its own job only, and another takes its place', async () => {
  const threads = start({ threads: 2 })
  const held = shared('wait')
  const other = ask(threads, 'a', held)
  const dying = ask(threads, 'b', shared('die'))
  const next = ask(threads, 'c')
  await expect(dying.done).rejects.toMatchObject({ reason: 'body_thread_died', fault: 'gateway' })
  await next.done
  await ask(threads, 'b').done
  expect(logged).toEqual(['a thread for large bodies died'])
  held[0] = 0
  await other.done
})

test('the end of the pool fails what waits', async () => {
  const threads = start()
  const first = shared('wait')
  const jobs = [ask(threads, 'a', first), ask(threads, 'a')]
  await threads.close()
  for (const { done } of jobs) await expect(done).rejects.toMatchObject({ reason: 'body_thread_died' })
  expect(logged).toEqual([])
})
