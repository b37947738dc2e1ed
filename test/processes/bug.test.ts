import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { plantedBug } from '../support/bug-preload.ts'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { commandOf, serverArgs } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import { heldStreams } from '../support/upstream-plans.ts'

/** An error that nothing catches ends the process, and nothing that others have running. */

const patient = { timeout: patienceMs, interval: 20 }
const messages = [{ role: 'user', content: 'Hello' }]
const preload = join(import.meta.dirname, '../support/bug-preload.ts')

async function startBed(env: Record<string, string>): Promise<ProcessTestbed> {
  const bed = await startProcessTestbed({ env, nodeArgs: [...serverArgs, '--import', preload] })
  onTestFinished(() => bed.close(), 120_000)
  if (env.PROCESSES === '2')
    await expect.poll(bed.tollgate.stderr, patient).toContain('all processes are ready')
  return bed
}

/** Streams that run until `finish`. */
async function openStreams(bed: ProcessTestbed, count: number) {
  const { script, finish } = heldStreams()
  bed.upstream.script(script)
  const body = { model: 'priced', messages, stream: true, max_tokens: 10 }
  const streams = await Promise.all(
    Array.from({ length: count }, (_, index) => bed.chat(body, { key: index % 4 === 0 ? paidKey : freeKey })),
  )
  expect(streams.filter(({ status }) => status !== 200)).toEqual([])
  return { texts: Promise.all(streams.map((stream) => stream.text())), finish }
}

function open({ tollgate }: ProcessTestbed): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(tollgate.port, '127.0.0.1', () => resolve(socket)).once('error', reject)
  })
}

/** The answer to a request on an open connection. */
function askOn(socket: Socket): Promise<string> {
  const body = JSON.stringify({ model: 'priced', messages })
  let received = ''
  return new Promise((resolve) => {
    socket.on('data', (bytes) => {
      received += bytes
    })
    socket.on('close', () => resolve(received))
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${freeKey}\r\nconnection: close\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
  })
}

const linesOf = (bed: ProcessTestbed, message: string) =>
  bed.tollgate.stderr().match(new RegExp(`"msg":"${message}`, 'g'))?.length ?? 0

const isWhole = (text: string) => text.trimEnd().endsWith('data: [DONE]')

const outcomes = ({ database }: ProcessTestbed) =>
  database.sql`SELECT outcome, count(*)::int AS n FROM requests GROUP BY outcome ORDER BY outcome`

test.for(['throw', 'rejection'])(
  'after a bug (%s) running streams end whole, new requests are refused, and the exit code is 1',
  { timeout: 180_000 },
  async (bug) => {
    const bed = await startBed({ BUG: bug, CRASH_DRAIN_MS: '60000', SHUTDOWN_DELAY_MS: '60000' })
    const { texts, finish } = await openStreams(bed, 20)
    const waiting = await Promise.all([open(bed), open(bed)])
    bed.tollgate.child.kill('SIGUSR2')
    await expect.poll(() => linesOf(bed, 'draining'), patient).toBe(1)
    // A second one changes nothing.
    bed.tollgate.child.kill('SIGUSR2')
    for (const refused of await Promise.all(waiting.map(askOn))) {
      expect(refused).toMatch(/^HTTP\/1\.1 503 /)
      expect(refused).toMatch(/retry-after: 1\r\n/i)
      expect(refused).toContain('"type":"server_error"')
    }
    await expect
      .poll(() => open(bed).then((socket) => socket.destroy(), String), patient)
      .toContain('ECONNREFUSED')
    expect(bed.tollgate.child.exitCode).toBeNull()
    finish()
    expect((await texts).filter((text) => !isWhole(text))).toEqual([])
    expect(await bed.tollgate.exited).toBe(1)
    expect(await outcomes(bed)).toEqual([
      { outcome: 'failed', n: 2 },
      { outcome: 'succeeded', n: 20 },
    ])
    expect(await bed.database.sql`SELECT 1 FROM reservations`).toEqual([])
    expect(linesOf(bed, 'a bug: ')).toBe(1)
    const log = bed.tollgate.stderr()
    expect(log).toContain('Error: a planted bug with [REDACTED')
    expect(log).not.toContain(plantedBug)
    expect(log).toContain('bug-preload.ts:')
  },
)

test('streams that outlast CRASH_DRAIN_MS end in their own format, with their rows', async () => {
  const bed = await startBed({ CRASH_DRAIN_MS: '500', DRAIN_ON_SHUTDOWN_MS: '600000' })
  const { texts } = await openStreams(bed, 3)
  bed.tollgate.child.kill('SIGUSR2')
  expect(await bed.tollgate.exited).toBe(1)
  for (const text of await texts) expect(text).toMatch(/"error":\{"message":"[^"]*shutting down/)
  const rows = await bed.database.sql`SELECT stream_end, outcome, error_kind FROM requests`
  expect(rows).toEqual(
    Array.from({ length: 3 }, () => ({
      stream_end: 'shutdown',
      outcome: 'failed',
      error_kind: 'unavailable',
    })),
  )
})

test('a bug in one of two processes cuts no stream, and another process takes its place', async () => {
  const bed = await startBed({ PROCESSES: '2', CRASH_DRAIN_MS: '60000' })
  const { texts, finish } = await openStreams(bed, 20)
  const [victim = 0, other] = bed.tollgate.members()
  process.kill(victim, 'SIGUSR2')
  await expect.poll(() => linesOf(bed, 'draining'), patient).toBe(1)
  finish()
  expect((await texts).filter((text) => !isWhole(text))).toEqual([])
  await expect
    .poll(() => bed.tollgate.members().filter((pid) => pid !== victim && pid !== other), patient)
    .toHaveLength(1)
  expect(bed.tollgate.stderr()).toMatch(new RegExp(`"process":${victim},"exitCode":1,.*starting another`))
  await expect.poll(() => linesOf(bed, 'listening'), patient).toBe(3)
  expect(await bed.tollgate.stop()).toBe(0)
  expect(await outcomes(bed)).toEqual([{ outcome: 'succeeded', n: 20 }])
})

test('a bug in the supervisor ends all processes as SIGTERM does, and its exit code is 1', async () => {
  const bed = await startBed({ PROCESSES: '2', DRAIN_ON_SHUTDOWN_MS: '60000' })
  const { texts, finish } = await openStreams(bed, 10)
  const members = bed.tollgate.members()
  bed.tollgate.child.kill('SIGUSR2')
  await expect.poll(() => linesOf(bed, 'draining'), patient).toBe(2)
  finish()
  expect((await texts).filter((text) => !isWhole(text))).toEqual([])
  expect(await bed.tollgate.exited).toBe(1)
  expect(members.filter((pid) => commandOf(pid) !== '')).toEqual([])
  expect(await outcomes(bed)).toEqual([{ outcome: 'succeeded', n: 10 }])
})

test('a bug in a process that only runs workers ends it in order, with exit code 1', async () => {
  const bed = await startBed({ ROLE: 'worker' })
  bed.tollgate.child.kill('SIGUSR2')
  expect(await bed.tollgate.exited).toBe(1)
  expect(linesOf(bed, 'a bug: ')).toBe(1)
  expect(linesOf(bed, 'ended"')).toBe(1)
})
