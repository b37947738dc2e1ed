import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { absurdCounts, countedAnswer, failureOf, leftWithin } from '../support/counted-answers.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { callAnew } from '../support/fresh-connection.ts'
import { hiddenInput, type Members } from '../support/hidden-members.ts'
import { noteOverdrawn } from '../support/overdrawn.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { type Plan, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts'

/** No kind of request, in no format, gets more than a tenant's dollar pays for, however many come at once. */

const count = 400
/** Of the answer that some others continue. */
const seedTurn = count
const contextLength = 128_000
/** Two cents of output. A plain body holds next to nothing beside them, and the whole context 2.56 cents. */
const outputMax = 200
const bounds = `context_length: ${contextLength}, max_output_tokens: ${outputMax}, price: { input: "0.2", output: "100", web_search: "0" }`
const dear = { input: contextLength - outputMax, output: outputMax }

const paths = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'anthropic-messages': '/v1/messages',
  'openai-images': '/v1/images/generations',
}
type Words = keyof typeof paths
const texts = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const
type Texts = (typeof texts)[number]
const eachTwice = texts.flatMap((format) => [false, true].map((stream) => ({ format, stream })))
const withImages = [...eachTwice, { format: 'openai-images' as const, stream: false }]

interface Kind {
  kind: string
  formats: readonly { format: Words; stream: boolean }[]
  answer(asked: Asked): Plan | Promise<Plan>
  adds?(asked: Asked): Members
  /** What clients get beside 200 and 402. */
  statuses?: readonly (number | 'left')[]
  unseen?: 'estimate' | 'hold'
  /** The client leaves at the first byte of its answer. */
  leavesWithin?: true
  /** All that an upstream reports was held. */
  isCovered?: true
}

const absurd = Object.values(absurdCounts(contextLength))

/** One more kind, or one more format of a kind, is a line. */
const kinds: readonly Kind[] = [
  {
    kind: 'whose vendor adds input',
    formats: eachTwice,
    adds: ({ format, turn }) => pick(hiddenInput[format as Texts], turn),
    answer: ({ format, stream, turn }) =>
      countedAnswer(format, stream, turn === seedTurn ? { input: 5, output: 5 } : dear),
    isCovered: true,
  },
  {
    kind: 'whose counts are absurd',
    formats: withImages,
    answer: ({ format, stream, turn }) => countedAnswer(format, stream, pick(absurd, turn)),
  },
  {
    kind: 'that fail and report their usage',
    // A whole answer of Messages that fails reports none.
    formats: eachTwice.filter(({ format, stream }) => format !== 'anthropic-messages' || stream),
    answer: ({ format, stream }) => failureOf(format as Texts, 'server_error', dear, stream),
    statuses: [502],
  },
  ...(['estimate', 'hold'] as const).flatMap((unseen): Kind[] => [
    {
      kind: `whose clients leave before the first byte (${unseen})`,
      formats: withImages,
      async answer({ format, stream, turn, leave, gone }) {
        leave()
        await gone
        // A job goes on without its client.
        return turn % 3 === 0 || format === 'openai-images' ? countedAnswer(format, stream, dear) : never
      },
      statuses: ['left'],
      unseen,
    },
    {
      kind: `whose clients leave within the answer (${unseen})`,
      formats: eachTwice,
      answer: ({ format, stream, turn, leave, gone }) =>
        leftWithin(countedAnswer(format, stream, dear), { leave, gone, goesOn: turn % 3 === 0 }),
      statuses: ['left'],
      unseen,
      leavesWithin: true,
    },
  ]),
]

interface Asked {
  turn: number
  format: Words
  stream: boolean
  leave(): void
  /** Resolves when its client has left. */
  gone: Promise<unknown>
}
/** The answers, by words of the bodies. */
const running = new Map<string, () => Plan | Promise<Plan>>()

/** Each has a tenant of its own. */
const cases = kinds.flatMap((kind, at) =>
  kind.formats.map((one) => ({ ...kind, ...one, tenant: `tenant-${at}-${one.format}-${one.stream}` })),
)
type Case = (typeof cases)[number]
const policies = ['drain', 'abort'] as const
const secretOf = ({ tenant }: Case, policy = 'drain') => `${tenant}-${policy}-key`
const keyOf = (one: Case, policy: string) =>
  `{ name: ${policy}, group: ${one.unseen ?? 'estimate'}-${policy}, secret: ${secretOf(one, policy)} }`

const yaml = (url: string) => `
models: [ { id: writing, ${bounds} }, { id: drawing, ${bounds}, images: {} } ]
channels:
${['estimate', 'hold']
  .map(
    (name) => `  - name: ${name}
    protocols: { openai-chat: ${url}, openai-responses: ${url}, anthropic-messages: ${url.replace('/v1', '')}, openai-images: ${url} }
    api_keys: [upstream-credential-1]
    models: [writing, drawing]
    allow_private_address: true
    shared_state: allow
    concurrency: 10000
    timeouts: { total_ms: ${name === 'hold' ? 3_000 : 600_000} }\n`,
  )
  .join('')}
groups: [ ${['estimate', 'hold'].flatMap((unseen) => policies.map((policy) => `{ name: ${unseen}-${policy}, models: ['*'], channels: [${unseen}], client_gone: { policy: ${policy}, seconds: 1, unseen: ${unseen} } }`))} ]
tenants: [ ${cases.map((one) => `{ name: ${one.tenant}, balance_usd: "1.00", keys: [ ${policies.map((policy) => keyOf(one, policy))} ] }`)} ]
`

let processes: TollgateProcess[]
let upstream: ScriptedUpstream
let database: Database
let overdrawn: () => Promise<object[]>
let fresh: Awaited<ReturnType<typeof freshDatabase>>
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-dollar-'))
beforeAll(async () => {
  ;[fresh, upstream] = await Promise.all([freshDatabase(), startUpstream()])
  upstream.script(answer)
  const env = {
    SHIP_INTERVAL_MS: '20',
    BUDGET_WAIT_MS: '240000',
    ADMIT_MS: '60000',
    BREAKER_FAILURES: '1000',
  }
  const options = { databaseUrl: fresh.url, gatewayYaml: yaml(upstream.url), dataDir, env }
  processes = [await startTollgate(options), await startTollgate(options)]
  database = openDatabase(fresh.url)
  overdrawn = await noteOverdrawn(database.sql)
})
afterAll(async () => {
  await Promise.all(processes.map((process) => process.stop()))
  await Promise.all([upstream.close(), database.close()])
  await fresh.drop()
  rmSync(dataDir, { recursive: true })
})

describe.each(kinds)(`${count} requests at once $kind`, ({ kind }) => {
  test.concurrent.for(cases.filter((one) => one.kind === kind))(
    'cost a dollar and no more ($format, stream $stream)',
    async (one) => {
      // From here on their keys are in memory.
      for (const { url } of processes)
        for (const policy of policies) await until(() => isKnown(url, secretOf(one, policy)))
      const seeds = one.isCovered && one.format === 'openai-responses' ? 1 : 0
      if (seeds > 0) {
        // The answer that some of them continue.
        expect(await ask({ ...one, adds: () => ({}) }, seedTurn)).toBe(200)
        await until(async () => (await totals(one)).rows === seeds)
      }
      const ended = await Promise.all(Array.from({ length: count }, (_, turn) => ask(one, turn)))
      // A busy machine may have 503, for which no one pays.
      const expected: unknown[] = [200, 402, 503, ...(one.statuses ?? [])]
      expect(ended.filter((status) => !expected.includes(status))).toEqual([])
      const { balance, charged, cost, ...rest } = await until(async () => {
        const now = await totals(one)
        return now.rows >= count + seeds && now.held === 0 && now
      })
      expect(rest).toEqual({ rows: count + seeds, requests: count + seeds, held: 0 })
      expect(balance).toBe(1e9 - charged)
      expect(balance).toBeGreaterThanOrEqual(0)
      // Less is left than one more request could cost.
      expect(balance).toBeLessThan(5e7)
      if (one.isCovered) expect(charged).toBe(cost)
    },
  )
})

test('no account ever held more than it had, and `tollgate ledger verify` finds nothing', async () => {
  expect(await overdrawn()).toEqual([])
  const { code, output, errors } = await runTollgate(['ledger', 'verify'], { DATABASE_URL: fresh.url })
  expect(code, output + errors).toBe(0)
})

/** Answers the status, or that the client has left. */
async function ask(one: Case, turn: number): Promise<number | 'left'> {
  const { format, stream, tenant } = one
  const leaving = new AbortController()
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const asked: Asked = { turn, format, stream, leave: () => leaving.abort(), gone }
  const words = `turn ${turn} of ${tenant}.`
  running.set(words, () => one.answer(asked))
  const { signal } = leaving
  return await callAnew(`${processes[turn % 2]?.url}${paths[format]}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-tollgate-tags': `${turn}`,
      authorization: `Bearer ${secretOf(one, policies[(turn >> 1) % 2])}`,
    },
    body: JSON.stringify(bodyOf(one, words, one.adds?.(asked))),
    signal,
    onData: (status) => void (one.leavesWithin && status === 200 && leaving.abort()),
  })
    .then(
      ({ status }) => status,
      (error: unknown) => {
        if (signal.aborted) return 'left' as const
        throw error
      },
    )
    .finally(resolve)
}

function bodyOf({ format, stream }: Case, words: string, { part, ...members }: Members = {}): object {
  if (format === 'openai-images') return { model: 'drawing', prompt: words }
  const isResponses = format === 'openai-responses'
  const text = { type: isResponses ? 'input_text' : 'text', text: words }
  const messages = [{ role: 'user', content: part === undefined ? [text] : [text, part] }]
  const said = isResponses
    ? { max_output_tokens: outputMax, input: messages }
    : { max_tokens: outputMax, messages }
  return { model: 'writing', stream, ...said, ...members }
}

function answer({ body }: SeenRequest): Plan | Promise<Plan> {
  const make = running.get(/turn \d+ of [\w-]+\./.exec(body.toString('utf8'))?.[0] ?? '')
  if (make === undefined) throw new Error(`nobody asked this: ${body}`)
  return make()
}

const never: Plan = { chunks: [], ending: 'stall' }

/** Each process and each key, chosen by the lowest bits of `turn`, meets all of the list. */
function pick<T>(list: readonly T[], turn: number): T {
  return list[(turn >> 2) % list.length] as T
}

async function isKnown(url: string, key: string): Promise<boolean> {
  const models = await callAnew(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  return models.status === 200
}

async function totals({ tenant }: Case) {
  const [row] = await database.sql<
    Record<'balance' | 'held' | 'rows' | 'requests' | 'charged' | 'cost', number>[]
  >`
    SELECT a.balance_nano::float8 AS balance, a.reserved_nano::float8 AS held, count(r.id)::int AS rows,
      count(DISTINCT r.tags)::int AS requests, coalesce(sum(r.charged_nano), 0)::float8 AS charged,
      coalesce(sum(r.cost_nano), 0)::float8 AS cost
    FROM tenants t JOIN accounts a ON a.id = t.id LEFT JOIN requests r ON r.tenant_id = t.id AND r.tags IS NOT NULL
    WHERE t.name = ${tenant} GROUP BY a.id`
  if (row === undefined) throw new Error(`no tenant ${tenant}`)
  return row
}
