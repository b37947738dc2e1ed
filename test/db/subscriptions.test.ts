import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { holdsFor, patienceMs, until } from '../support/until.ts'
import { startWire } from '../support/wire.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

const patient = { timeout: patienceMs, interval: 5 }

/** A database behind a wire, the messages that came through it, and the states of its subscription. */
async function aListener(channel: string) {
  const wire = await startWire(fresh.url)
  const database = openDatabase(wire.url)
  const direct = openDatabase(fresh.url, { max: 1 })
  onTestFinished(async () => {
    await Promise.all([database.close(), direct.close()])
  })
  const state = { heard: [] as string[], begun: 0, refused: 0 }
  const listen = () =>
    database.listen(channel, {
      onNotify: (word) => state.heard.push(word),
      onListening: () => state.begun++,
      onRefused: () => state.refused++,
    })
  return {
    wire,
    database,
    state,
    listen,
    say: (word: string) => direct.sql`SELECT pg_notify(${channel}, ${word})`,
    listeners: async () =>
      (
        await direct.sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'tollgate listener' AND query ILIKE ${`listen "${channel}"`}`
      ).length,
  }
}

test('a refused subscription begins when Postgres is back, and reports the refusal once', async () => {
  const { wire, state, listen, say } = await aListener('refused')
  await wire.cut()
  listen()
  await expect.poll(() => state.refused, patient).toBe(1)
  // It has tried several times by now.
  await holdsFor(1_200, () => expect(state).toMatchObject({ begun: 0, refused: 1 }))
  await wire.mend()
  await expect.poll(() => state.begun, patient).toBe(1)
  await say('hello')
  await expect.poll(() => state.heard, patient).toEqual(['hello'])
  expect(state.begun).toBe(1)
})

test('a subscription that the network forgot begins again when a query shows that connections are dead', async () => {
  const { wire, database, state, listen, say } = await aListener('forgotten')
  const look = () => database.state.ask(({ sql }) => sql`SELECT 1`, { withinMs: 1_100 })
  listen()
  await expect.poll(() => state.begun, patient).toBe(1)
  await until(() =>
    look().then(
      () => true,
      () => false,
    ),
  )
  wire.forget()
  await expect(look()).rejects.toMatchObject({ kind: 'unavailable' })
  await expect.poll(() => state.begun, patient).toBe(2)
  await say('still there')
  await expect.poll(() => state.heard, patient).toEqual(['still there'])
})

test('several subscriptions share one connection, and an ended one gets no more messages', async () => {
  const { state, listen, say, listeners } = await aListener('shared')
  const [endFirst] = [listen(), listen()]
  await expect.poll(() => state.begun, patient).toBe(2)
  expect(await listeners()).toBe(1)
  await endFirst?.()
  await say('once')
  await expect.poll(() => state.heard, patient).toEqual(['once'])
  await say('end')
  await expect.poll(() => state.heard, patient).toEqual(['once', 'end'])
})

test('ending a subscription is quick even if Postgres does not answer', async () => {
  const { wire, state, listen } = await aListener('frozen')
  const end = listen()
  await expect.poll(() => state.begun, patient).toBe(1)
  wire.freeze()
  const watch = startStopwatch()
  await end()
  expect(watch.ms).toBeLessThan(5_000)
})
