import { expect } from 'vitest'
import { openDatabase } from '../support/database.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { notingFetch } from '../support/loop.ts'
import { expectTurns, loopClients, loopModels } from '../support/tool-loops.ts'
import { until } from '../support/until.ts'
import type { Stack } from './stack.ts'

/** Each SDK runs its tool loops, over each format of upstreams, whole and streamed: each call has a row. The yaml is `loopYaml`. */
export async function expectLoops(stack: Pick<Stack, 'url' | 'fetch'>, databaseUrl: string): Promise<void> {
  const pairs = Object.values(loopClients).flatMap((client) =>
    loopModels.flatMap((model) => [false, true].map((stream) => ({ client, model, stream }))),
  )
  const asked: string[] = []
  const run = async () => {
    for (let pair = pairs.shift(); pair !== undefined; pair = pairs.shift()) {
      const { client, model, stream } = pair
      const { fetch, requestIds } = notingFetch(stack.fetch as typeof globalThis.fetch)
      const turns = await client.loop({ origin: stack.url, apiKey: freeKey, model, stream, fetch })
      expectTurns(client, model, turns)
      asked.push(...requestIds)
    }
  }
  await Promise.all(Array.from({ length: 8 }, run))

  expect(new Set(asked).size).toBe(asked.length)
  const database = openDatabase(databaseUrl, { max: 2 })
  const rows = await until(async () => {
    const found = await database.sql<{ outcome: string }[]>`
      SELECT outcome FROM requests WHERE id = ANY (${asked}::uuid[])`
    return found.length === asked.length && found
  }).finally(() => database.close())
  expect(rows.filter(({ outcome }) => outcome !== 'succeeded')).toEqual([])
}
