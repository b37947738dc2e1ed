import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { type MadeForRequests, watchRequests } from '../support/made-for-requests.ts'
import { type Exchange, type Peers, startPeers } from '../support/peers.ts'
import { answerBytes, chunkBytes, chunkedHead } from '../support/raw-upstream.ts'
import { until } from '../support/until.ts'
import { chatAnswer, frame, usageTold } from '../support/upstream-plans.ts'

/**
 * What one request costs, on connections that are open. Raise a number only on purpose: write the new one here, and say in
 * the commit what it buys. Lower it here as soon as it falls.
 *
 * - promises, timers, immediates: made by the thread that serves, in our code and in packages.
 * - ownStatements: sent to Postgres by that thread. statements, postgresBytes: by the shipper, which ships this request alone.
 * - journalBytes are exact: times, numbers and ids have one length there, whatever they are.
 * - postgresBytes is a bound, because positions in the journal are in it as text. At most 5 % of it may be unused.
 */
const counts: Record<Name, Counts> = {
  small: {
    promises: 55,
    timers: 5,
    immediates: 4,
    ownStatements: 0,
    statements: 8,
    postgresBytes: 2304,
    journalBytes: 785,
  },
  streamed: {
    promises: 55,
    timers: 5,
    immediates: 4,
    ownStatements: 0,
    statements: 8,
    postgresBytes: 2310,
    journalBytes: 788,
  },
  translated: {
    promises: 55,
    timers: 5,
    immediates: 4,
    ownStatements: 0,
    statements: 8,
    postgresBytes: 2323,
    journalBytes: 801,
  },
  'translated and streamed': {
    promises: 55,
    timers: 6,
    immediates: 4,
    ownStatements: 0,
    statements: 8,
    postgresBytes: 2326,
    journalBytes: 804,
  },
}

type Name = (typeof names)[number]
type Counts = Record<(typeof exact)[number] | (typeof bounded)[number], number>

const names = ['small', 'streamed', 'translated', 'translated and streamed'] as const
const exact = ['promises', 'timers', 'immediates', 'ownStatements', 'statements', 'journalBytes'] as const
const bounded = ['postgresBytes'] as const

const messages = [{ role: 'user', content: 'Hello' }]
const asChat = { path: '/v1/chat/completions', headers: `authorization: Bearer ${freeKey}` }
const asMessages = { path: '/v1/messages', headers: `x-api-key: ${freeKey}\r\nanthropic-version: 2023-06-01` }
const whole = [{ bytes: answerBytes(chatAnswer().body).toString() }]
/** Each is an event, a write of the upstream and a read of the gateway. A number for each of them would show above. */
const events = 20

const exchanges: Record<Name, Exchange> = {
  small: { request: requestOf(asChat, { model: 'main', messages }), answer: whole },
  streamed: {
    request: requestOf(asChat, { model: 'main', messages, stream: true }),
    answer: streamOf(events),
  },
  translated: {
    request: requestOf(asMessages, { model: 'main', messages, max_tokens: 100 }),
    answer: whole,
  },
  'translated and streamed': {
    request: requestOf(asMessages, { model: 'main', messages, max_tokens: 100, stream: true }),
    answer: streamOf(events),
  },
}

let peers: Peers
let database: Awaited<ReturnType<typeof freshDatabase>>
let watched: MadeForRequests
let gateway: Gateway

beforeAll(async () => {
  const started = startPeers({ postgres: inject('postgres').url, counted: 'tollgate shipper' })
  ;[database, peers] = await Promise.all([freshDatabase(), started])
  const url = new URL(database.url)
  url.hostname = '127.0.0.1'
  url.port = String(peers.postgresPort)
  gateway = await startGateway({
    databaseUrl: url.href,
    gatewayYaml: gatewayYaml(`${peers.upstreamUrl}/v1`),
    // A shipment begins when the test asks for it, and no worker asks Postgres for jobs.
    env: { ROLE: 'api', SHIP_INTERVAL_MS: '10000' },
    onServer: (server) => {
      watched = watchRequests(server)
    },
  })
  await peers.connect(gateway.port)
  // It opens connections, and reads the key.
  const first = await measure('small')
  expect(first.ownStatements).toBeGreaterThan(0)
})
afterAll(async () => {
  watched?.stop()
  await gateway?.stop()
  await peers?.close()
  await database?.drop()
})

test.for(names)('a %s request costs what stands above', async (name) => {
  // It loads code, and fills caches.
  await measure(name)
  // What comes by the clock, such as a heartbeat of the shipper, is not in all of them. A difference that stays is the request's.
  const seen = [await measure(name), await measure(name)]
  while (seen.length < seenMax && differences(name, leastOf(seen)).length > 0) seen.push(await measure(name))
  const different = differences(name, leastOf(seen))
  expect(
    different,
    `${different.join('\n')}\nmade by the last one:\n${seen.at(-1)?.places().join('\n')}`,
  ).toEqual([])
})

const seenMax = 25

/** One request on open connections, and its shipment. */
async function measure(name: Name): Promise<Counts & { places(): string[] }> {
  const written = () => gateway.context.ledger.progress.written
  // A sync of the journal takes all frames of 10 ms. Here each request has one for its beginning, and one for its end.
  const rest = () => until(() => watched.isAtRest())
  const before = written()
  const heard = await peers.exchange(exchanges[name], rest)
  await rest()
  expect(heard).toMatch(/^HTTP\/1.1 200 /)
  await until(() => gateway.context.ledger.shipNow())
  const { statements: ownStatements, places, ...made } = watched.take()
  const { statements, bytes: postgresBytes } = await peers.takeTraffic()
  const journalBytes = written() - before
  return {
    ...made,
    ownStatements,
    statements: statements.length,
    postgresBytes,
    journalBytes,
    places: () => [...places(), `statements: ${statements.join(', ')}`],
  }
}

function leastOf(seen: readonly Counts[]): Counts {
  const least = (count: keyof Counts) => Math.min(...seen.map((one) => one[count]))
  return {
    promises: least('promises'),
    timers: least('timers'),
    immediates: least('immediates'),
    ownStatements: least('ownStatements'),
    statements: least('statements'),
    postgresBytes: least('postgresBytes'),
    journalBytes: least('journalBytes'),
  }
}

function differences(name: Name, seen: Counts): string[] {
  const is = (count: keyof Counts, verb: string) =>
    `${name}: ${count} ${verb} from ${counts[name][count]} to ${seen[count]}. On purpose? Write it into test/gateway/counts.test.ts.`
  return [...exact, ...bounded].flatMap((count) => {
    const expected = counts[name][count]
    if (seen[count] > expected) return [is(count, 'rose')]
    const least = bounded.some((one) => one === count) ? expected * 0.95 : expected
    return seen[count] < least ? [is(count, 'fell')] : []
  })
}

function requestOf({ path, headers }: { path: string; headers: string }, body: object): string {
  const text = JSON.stringify(body)
  const sized = `content-type: application/json\r\ncontent-length: ${text.length}`
  return `POST ${path} HTTP/1.1\r\nhost: gateway\r\n${headers}\r\n${sized}\r\n\r\n${text}`
}

function streamOf(tokens: number): Exchange['answer'] {
  const head = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: 'scripted',
  }
  const chunk = (delta: object, finish_reason: string | null) =>
    frame({ ...head, choices: [{ index: 0, delta, finish_reason }], usage: null })
  const pieces = Array.from({ length: tokens }, (_, i) => ({
    bytes: chunkBytes(chunk({ role: 'assistant', content: `token-${i} ` }, null)).toString(),
    shows: `token-${i} `,
  }))
  const usage = frame({ ...head, choices: [], usage: usageTold })
  const end = chunkBytes(`${chunk({}, 'stop')}${usage}data: [DONE]\n\n`)
  const [first, ...rest] = pieces
  const begin = { ...first, bytes: `${chunkedHead('text/event-stream')}${first?.bytes}` }
  return [begin, ...rest, { bytes: `${end}0\r\n\r\n` }]
}
