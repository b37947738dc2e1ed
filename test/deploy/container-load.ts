import { expect } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { openDatabase } from '../support/database.ts'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { seeded } from '../support/random.ts'
import { anyMoment, patienceMs, until } from '../support/until.ts'
import type { Containers } from './containers.ts'

/** A channel for chats, one for images, and two tenants: the money of one is limited. */
export const stackYaml = (upstream: string, painter: string) => `
models:
  - { id: draw, price: { image: "0.04" } }
  - { id: '*', context_length: 100000, max_output_tokens: 1000, price: { input: "1", output: "2" } }
channels:
  - { name: chat, protocols: { openai-chat: ${upstream} }, api_keys: [k], models: '*', concurrency: 10000, allow_private_address: true }
  - { name: paint, protocols: { openai-images: ${painter} }, api_keys: [k], models: [draw], allow_private_address: true }
groups: [{ name: default }]
tenants:
  - { name: acme, keys: [{ name: main, secret: ${freeKey} }] }
  - { name: paid, balance_usd: "1000", keys: [{ name: paid, secret: ${paidKey} }] }
`

/** Clients that call without pause and take any failure: half of the calls are streams, a quarter are paid. */
export function startCalls({ url, fetch }: Pick<Containers, 'url' | 'fetch'>, clients = 8) {
  let running = true
  const random = seeded(2)
  const answered: string[] = []
  const one = async (name: number, turn: number) => {
    const marker = `m-${name}-${turn}`
    const stream = turn % 2 === 0
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${name % 4 === 0 ? paidKey : freeKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: stream ? 'paced-5x20' : 'any',
        stream,
        max_tokens: 10,
        messages: [{ role: 'user', content: 'x' }],
        marker,
      }),
      signal: AbortSignal.timeout(patienceMs),
    })
    const text = await answer.text()
    if (answer.status === 200 && (!stream || text.includes('[DONE]'))) answered.push(marker)
  }
  const client = async (name: number) => {
    // Whoever is killed takes its calls along. Where nothing listens, other work runs before the next call.
    for (let turn = 0; running; turn++) await one(name, turn).catch(() => anyMoment(random, 20))
  }
  const all = Array.from({ length: clients }, (_, name) => client(name))
  return {
    answered,
    /** Resolves when as many more calls have been answered well. */
    async more(count: number): Promise<void> {
      const goal = answered.length + count
      await until(() => answered.length >= goal)
    },
    async stop(): Promise<void> {
      running = false
      await Promise.all(all)
    },
  }
}

/** Each call that the upstream saw has one row, each answered one a row that says so, and the ledger is right. */
export async function expectCallsAreRows(
  { databaseUrl, upstream }: Pick<Containers, 'databaseUrl' | 'upstream'>,
  answered: readonly string[],
): Promise<void> {
  const { ids: seen } = await upstream.count()
  const database = openDatabase(databaseUrl, { max: 2 })
  try {
    const outcomes = async () => {
      const rows = await database.sql<{ marker: string; outcomes: string[] }[]>`
        SELECT substring(p.body FROM '"marker":"([^"]+)"') AS marker, array_agg(r.outcome) AS outcomes
        FROM requests r JOIN request_payloads p ON p.request_id = r.id AND p.created_at = r.created_at
        WHERE r.endpoint = '/v1/chat/completions' GROUP BY 1`
      return new Map(rows.map(({ marker, outcomes }) => [marker, outcomes]))
    }
    const missing = async () => {
      const rows = await outcomes()
      return seen.filter((marker) => !rows.has(marker))
    }
    await until(async () => (await missing()).length === 0).catch(async (cause) => {
      throw new Error(`calls without a row: ${await missing()}`, { cause })
    })
    const rows = await outcomes()
    expect([...rows].filter(([, { length }]) => length !== 1)).toEqual([])
    expect(answered.filter((marker) => rows.get(marker)?.[0] !== 'succeeded')).toEqual([])
    const { findings } = await verifyLedger(database.sql)
    expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
    const orphaned = [...rows.values()].filter(([outcome]) => outcome === 'orphaned')
    console.info(
      `${seen.length} calls, ${answered.length} answered, ${rows.size} rows, ${orphaned.length} of them orphaned`,
    )
  } finally {
    await database.close()
  }
}
