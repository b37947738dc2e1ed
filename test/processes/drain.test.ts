import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { patienceMs } from '../support/until.ts'
import { chatAnswer, chatStream, frame, heldStreams } from '../support/upstream-plans.ts'

const patient = { timeout: patienceMs, interval: 20 }
const messages = [{ role: 'user', content: 'Hello' }]

/** A testbed whose Tollgate is `processes` processes, all of which serve. */
async function startBed(processes: number, env: Record<string, string>): Promise<ProcessTestbed> {
  const bed = await startProcessTestbed({ env: { PROCESSES: String(processes), ...env } })
  onTestFinished(() => bed.close(), 120_000)
  if (processes > 1) await expect.poll(bed.tollgate.stderr, patient).toContain('all processes are ready')
  return bed
}

/** The number of processes that drain, by their logs. */
const draining = ({ tollgate }: ProcessTestbed) => tollgate.stderr().match(/"msg":"draining"/g)?.length ?? 0

/** A connection that has sent no request yet. */
function open({ tollgate }: ProcessTestbed): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(tollgate.port, '127.0.0.1', () => resolve(socket)).once('error', reject)
  })
}

/** The answer to a request on an existing connection. */
function askOn(socket: Socket, headers = ''): Promise<string> {
  const body = JSON.stringify({ model: 'priced', messages })
  let received = ''
  return new Promise((resolve, reject) => {
    if (socket.destroyed) reject(new Error('closed before it could ask'))
    socket.on('data', (bytes) => {
      received += bytes
      if (received.includes('\r\n\r\n') && received.includes('}')) resolve(received)
    })
    socket.on('close', () => reject(new Error(`closed after: ${received}`)))
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${freeKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`,
    )
  })
}

test.for([1, 2])(
  'SIGTERM to %i process(es) with 200 open streams cuts none, refuses new requests, and ends with exit code 0',
  { timeout: 180_000 },
  async (processes) => {
    const bed = await startBed(processes, {
      DRAIN_ON_SHUTDOWN_MS: '60000',
      ADMIT_MS: '60000',
    })
    const { script, finish } = heldStreams()
    bed.upstream.script(script)
    const streams = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        bed.chat(
          { model: 'priced', messages, stream: true, max_tokens: 10 },
          { key: index % 4 === 0 ? paidKey : freeKey },
        ),
      ),
    )
    expect(streams.filter(({ status }) => status !== 200)).toEqual([])
    const texts = streams.map((stream) => stream.text())
    const unused = await Promise.all(Array.from({ length: 4 }, () => open(bed)))

    bed.tollgate.child.kill('SIGTERM')
    await expect.poll(() => draining(bed), patient).toBe(processes)
    for (const socket of unused) {
      const refused = await askOn(socket)
      expect(refused).toMatch(/^HTTP\/1\.1 503 /)
      expect(refused).toMatch(/retry-after: 1\r\n/i)
      expect(refused).toContain('refused_while_draining')
      socket.destroy()
    }
    expect(bed.tollgate.child.exitCode).toBeNull()
    finish()
    const whole = await Promise.all(texts)
    expect(whole.filter((text) => !text.trimEnd().endsWith('data: [DONE]'))).toEqual([])
    expect(await bed.tollgate.exited).toBe(0)
    expect(
      await bed.database.sql`SELECT outcome, count(*)::int AS n FROM requests GROUP BY outcome ORDER BY n`,
    ).toEqual([
      { outcome: 'failed', n: 4 },
      { outcome: 'succeeded', n: 200 },
    ])
    expect(await bed.database.sql`SELECT 1 FROM reservations`).toEqual([])
  },
)

test('with SHUTDOWN_DELAY_MS a process serves on after SIGTERM, says in /readyz that it leaves, and closes kept connections', async () => {
  const bed = await startBed(1, { SHUTDOWN_DELAY_MS: '15000' })
  bed.upstream.script(() => chatAnswer())
  const [kept, waiting, late] = [await open(bed), await open(bed), await open(bed)]
  const ready = () => fetch(`${bed.tollgate.url}/readyz`)
  expect((await ready()).status).toBe(200)

  bed.tollgate.child.kill('SIGTERM')
  await expect.poll(async () => (await ready()).status, patient).toBe(503)
  expect(await (await ready()).json()).toMatchObject({ status: 'leaving' })
  const last = await askOn(kept)
  expect(last).toMatch(/^HTTP\/1\.1 200 /)
  expect(last).toMatch(/connection: close\r\n/i)
  expect(await askOn(waiting, 'expect: 100-continue\r\n')).toMatch(/connection: close\r\n/i)

  await expect.poll(() => draining(bed), patient).toBe(1)
  expect(await askOn(late)).toMatch(/^HTTP\/1\.1 503 /)
  for (const socket of [kept, waiting, late]) socket.destroy()
  expect(await bed.tollgate.exited).toBe(0)
})

test('connections that wait in the kernel when SIGTERM comes get an answer, not a reset', async () => {
  const bed = await startBed(1, {})
  bed.tollgate.child.kill('SIGSTOP')
  const waiting = await Promise.all(Array.from({ length: 100 }, () => open(bed)))
  const answers = waiting.map((socket) => askOn(socket))
  bed.tollgate.child.kill('SIGTERM')
  bed.tollgate.child.kill('SIGCONT')
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 503 /)
  for (const socket of waiting) socket.destroy()
  expect(await bed.tollgate.exited).toBe(0)
  const rows = await bed.database.sql`
    SELECT count(*)::int AS n FROM requests WHERE status = 503 AND key_id IS NOT NULL`
  expect(rows).toEqual([{ n: 100 }])
})

test.for([1, 2])(
  'streams that outlast DRAIN_ON_SHUTDOWN_MS end in their own format, and their rows say shutdown (%i process(es))',
  { timeout: 180_000 },
  async (processes) => {
    const bed = await startBed(processes, { DRAIN_ON_SHUTDOWN_MS: '1500' })
    const never = new Promise<void>(() => {})
    bed.upstream.script((request) =>
      request.stream
        ? {
            ...chatStream(request),
            chunks: [
              frame({ id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'first' } }] }),
              { waitFor: never },
            ],
          }
        : { ...chatAnswer(), delayMs: 300_000 },
    )
    const post = (path: string, body: object) =>
      fetch(`${bed.tollgate.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${freeKey}`,
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify({ model: 'priced', stream: true, ...body }),
      })
    const [chat, responses, claude] = await Promise.all([
      post('/v1/chat/completions', { messages }),
      post('/v1/responses', { input: 'Hello' }),
      post('/v1/messages', { messages, max_tokens: 10 }),
    ])
    const whole = post('/v1/chat/completions', { messages, stream: false })
    await bed.upstream.arrived(4)
    const texts = Promise.all([chat.text(), responses.text(), claude.text()])
    expect(await bed.tollgate.stop()).toBe(0)
    const [ofChat, ofResponses, ofMessages] = await texts
    /** The data of the last frame, not counting the end marker. */
    const last = (text: string) =>
      JSON.parse(
        text
          .match(/^data: \{.*$/gm)
          ?.at(-1)
          ?.slice('data: '.length) ?? 'null',
      )
    const reason = expect.stringContaining('shutting down')
    expect(last(ofChat)).toMatchObject({ error: { message: reason } })
    expect(ofChat).not.toContain('[DONE]')
    expect(last(ofResponses)).toMatchObject({
      type: 'response.failed',
      response: { error: { message: reason } },
    })
    expect(last(ofMessages)).toMatchObject({ type: 'error', error: { message: reason } })
    const refused = await whole
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: { message: reason } })
    const rows = await bed.database.sql`
      SELECT client_protocol, stream_end, outcome, error_kind FROM requests ORDER BY client_protocol`
    expect(rows.map((row) => row.client_protocol)).toEqual([
      'anthropic-messages',
      'openai-chat',
      'openai-chat',
      'openai-responses',
    ])
    for (const row of rows) {
      expect(row).toMatchObject({ stream_end: 'shutdown', outcome: 'failed', error_kind: 'unavailable' })
    }
  },
)
