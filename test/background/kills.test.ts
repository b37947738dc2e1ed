import type OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { type BackgroundBed, makeBackgroundBed, paidKey, requestIdOf } from '../support/background-bed.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { seeded } from '../support/random.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { anyMoment, until } from '../support/until.ts'

type Event = OpenAI.Responses.ResponseStreamEvent

const kills = amount('BACKGROUND_KILLS', { test: 1, chaos: 50 })

describe.each(queueBackends())('with the queue on %s', { timeout: 600_000 }, (backend) => {
  let bed: BackgroundBed<TollgateProcess>
  beforeAll(async () => {
    bed = await makeBackgroundBed(startTollgate, {
      backend,
      role: 'api',
      env: { BACKGROUND_RUNS_MAX: '100' },
    })
  })
  afterAll(() => bed?.close())

  test('a worker that dies before the first kept event leaves the job to another; after it the events stay, and the answer fails', async () => {
    const first = await bed.startWorker()
    bed.upstream.hold()
    const early = await bed.submit('words:3 hold:0 early', paidKey)
    const late = await bed.submit('words:6 hold:3 late', paidKey)
    await until(() => bed.upstream.open() === 2)
    await until(async () => (await eventsOf(late)).some(({ type }) => type === 'response.output_text.delta'))
    await first.kill9()
    bed.upstream.release()
    const second = await bed.startWorker()

    expect(await bed.ended(late, paidKey)).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } })
    const events = await eventsOf(late)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(runsOf(events)).toEqual(['1'])
    expect(events.at(-1)?.type).toBe('response.failed')
    expect(await bed.row(late)).toMatchObject({ status: 500, outcome: 'orphaned', cost_nano: null })

    // The upstream had sent nothing of it but its head: no event was kept.
    expect(await bed.ended(early, paidKey)).toMatchObject({
      status: 'completed',
      output_text: '2.0 2.1 2.2 ',
    })
    expect(await bed.row(early)).toMatchObject({ status: 200, cost_nano: '16000' })
    expect(await bed.differences()).toEqual([])
    await second.stop()
  })

  test('an answer that this SECRET_KEY cannot open fails, and holds no money', async () => {
    const id = await bed.submit('words:1 sealed', paidKey)
    const own = requestIdOf(id)
    await bed.database.sql`UPDATE background_answers SET answer = '\\x00' WHERE job_id = ${own}`
    const worker = await bed.startWorker()
    expect(await bed.row(id)).toMatchObject({
      ...{ status: 500, outcome: 'failed', cost_nano: '0' },
      error_reason: 'answer_sealed_elsewhere',
    })
    expect(await bed.ended(id, paidKey)).toMatchObject({ status: 'failed' })
    expect(await bed.differences()).toEqual([])
    await worker.stop()
  })

  test('a worker that is told to stop puts back what it has not begun to answer, and fails the rest', async () => {
    bed.upstream.hold()
    const worker = await bed.startWorker({ DRAIN_ON_SHUTDOWN_MS: '100' })
    const id = await bed.submit('words:2 hold:0 stopped')
    const begun = await bed.submit('words:2 hold:1 begun', paidKey)
    await until(() => bed.upstream.open() === 2)
    await until(async () => (await eventsOf(begun)).some(({ type }) => type === 'response.output_text.delta'))
    expect(await worker.stop()).toBe(0)
    bed.upstream.release()
    const next = await bed.startWorker()
    expect(await bed.ended(id)).toMatchObject({ status: 'completed', output_text: '2.0 2.1 ' })
    expect(await bed.row(begun)).toMatchObject({ error_reason: 'worker_stopped' })
    await next.stop()
  })

  test(`after ${kills} kills at any moment each answer ends once, with one row, one charge and the events of one run`, async () => {
    const random = seeded(17)
    bed.upstream.release()
    const apis: TollgateProcess[] = [await bed.startApi(), await bed.startApi()]
    const workers: TollgateProcess[] = [await bed.startWorker(), await bed.startWorker()]
    const ids: string[] = []
    const followed: Promise<Event[]>[] = []
    const anyApi = () => apis[random.upTo(apis.length - 1)]?.url ?? bed.api.url
    let isOver = false
    const submitting = async () => {
      for (let n = 0; !isOver; n++) {
        const input = `words:${1 + random.upTo(12)} gap:${random.upTo(40)} number ${backend} ${n}`
        const client = bed.client({
          key: paidKey,
          url: anyApi(),
          headers: { 'idempotency-key': `kill-${backend}-${n}` },
        })
        // A client asks again until it is told. Its key makes of that one job.
        const id = await until(async () => {
          const asked = { model: 'words', background: true, input }
          return await client
            .withOptions({ baseURL: `${anyApi()}/v1` })
            .responses.create(asked)
            .then(
              (answer) => answer.id,
              () => undefined,
            )
        })
        ids.push(id)
        if (n % 2 === 0) followed.push(follow(id, anyApi))
        await anyMoment(random, 120)
      }
    }
    const submits = [submitting()]
    for (let n = 0; n < kills; n++) {
      await anyMoment(random, 1_500)
      const isWorker = n % 3 !== 2
      const among = isWorker ? workers : apis
      const at = random.upTo(among.length - 1)
      await among[at]?.kill9()
      among[at] = isWorker ? await bed.startWorker() : await bed.startApi()
    }
    isOver = true
    await Promise.all(submits)
    expect(new Set(ids).size).toBe(ids.length)
    const counts: Record<string, number> = {}
    for (const id of ids) {
      const answer = await bed.ended(id, paidKey)
      const events = await eventsOf(id)
      const how = answer.status === 'failed' ? (answer.error?.code ?? 'failed') : String(answer.status)
      counts[how] = (counts[how] ?? 0) + 1
      expect(['completed', 'worker_lost'], JSON.stringify(answer)).toContain(how)
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => n))
      expect(runsOf(events).length, JSON.stringify(events)).toBeLessThanOrEqual(1)
      const row = await bed.row(id)
      const rows = await bed.database.sql`SELECT 1 FROM requests WHERE id = ${requestIdOf(id)}`
      expect(rows).toHaveLength(1)
      const charges = await bed.database.sql`
        SELECT amount_nano FROM entries WHERE id = ${requestIdOf(id)} AND kind = 'charge'`
      expect(charges.map(({ amount_nano }) => -Number(amount_nano))).toEqual(
        row.cost_nano === null ? [] : [Number(row.cost_nano)],
      )
    }
    for (const events of await Promise.all(followed)) {
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => n))
      expect(runsOf(events).length).toBeLessThanOrEqual(1)
      expect(events.at(-1)?.type).toMatch(/^response\.(completed|failed)$/)
    }
    expect(await bed.differences()).toEqual([])
    const [held] = await bed.database
      .sql`SELECT reserved_nano FROM accounts WHERE id = (SELECT id FROM tenants WHERE name = 'paid')`
    expect(held).toEqual({ reserved_nano: '0' })
    console.log(`${backend}: ${kills} kills, ${ids.length} answers: ${JSON.stringify(counts)}`)
  })

  /** All events, as a client with one connection gets them. */
  async function eventsOf(id: string): Promise<Event[]> {
    const rows = await bed.database.sql<{ events: number }[]>`
      SELECT events FROM background_answers WHERE job_id = ${requestIdOf(id)}`
    const events: Event[] = []
    const most = rows[0]?.events ?? 0
    for await (const event of await bed.client({ key: paidKey }).responses.retrieve(id, { stream: true })) {
      events.push(event)
      if (events.length >= most) break
    }
    return events
  }

  /** As a client that comes back wherever it was cut. */
  async function follow(id: string, anyApi: () => string): Promise<Event[]> {
    const events: Event[] = []
    await until(async () => {
      const last = events.at(-1)?.sequence_number
      const after = last === undefined ? {} : { starting_after: last }
      try {
        const client = bed.client({ key: paidKey, url: anyApi() })
        for await (const event of await client.responses.retrieve(id, { stream: true, ...after }))
          events.push(event)
      } catch {
        return undefined
      }
      return /completed|failed/.test(events.at(-1)?.type ?? '')
    })
    return events
  }
})

/** The runs of the upstream whose words are in these events. */
function runsOf(events: readonly Event[]): string[] {
  const words = events.flatMap((event) => (event.type === 'response.output_text.delta' ? event.delta : []))
  return [
    ...new Set(
      words
        .join('')
        .split(' ')
        .filter((word) => word !== '')
        .map((word) => word.split('.')[0] ?? ''),
    ),
  ]
}
