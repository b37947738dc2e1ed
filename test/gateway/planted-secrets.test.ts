import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDuck } from '../../src/usage/archive/duck.ts'
import { columnsOf, extractPartition } from '../../src/usage/archive/extract.ts'
import { archivedTables } from '../../src/usage/archive/options.ts'
import {
  type PlantedSecret,
  plantedAssignments,
  plantedContexts,
  plantedForms,
  plantedTokens,
} from '../redaction/planted-secrets.ts'
import { type SeenCollector, startCollector } from '../support/collector.ts'
import { freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { metricsUrl, scrape } from '../support/metrics.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { chatAnswer, errorAnswer, frame } from '../support/upstream-plans.ts'

/** Secrets in every place that a client or an upstream can fill, and whatever the gateway keeps of them. */

const credential = 'upstream-credential-0001'
/** One of each kind and beginning: the writer of rows and the redaction itself have tests with all. */
const planted: readonly PlantedSecret[] = [
  ...new Map(
    [...plantedTokens(), ...plantedForms(), ...plantedAssignments(), ...plantedContexts()].map((secret) => [
      `${secret.kind} ${secret.text.slice(0, 4)}`,
      secret,
    ]),
  ).values(),
  // Secrets without a form, which are known by their value.
  { kind: 'key', text: credential, random: credential },
  { kind: 'key', text: freeKey, random: freeKey },
]

let bed: Testbed
let collector: SeenCollector
beforeAll(async () => {
  collector = await startCollector()
  bed = await startTestbed({
    yaml,
    env: {
      LOG_LEVEL: 'trace',
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      // Each request has a trace, and none is lost.
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_BSP_MAX_QUEUE_SIZE: '100000',
    },
  })
})
afterAll(async () => {
  await bed?.close()
  await collector?.close()
})

/** One channel for each format, so that each has its own words of the upstream. */
function yaml(upstreamUrl: string): string {
  const origin = upstreamUrl.replace('/v1', '')
  return gatewayYaml(upstreamUrl)
    .replace(
      'client_gone: { policy: drain, seconds: 5 } }',
      'client_gone: { policy: drain, seconds: 5 }, capture_answers: true }',
    )
    .replace(
      `{ openai-chat: ${upstreamUrl} }`,
      `{ openai-chat: ${upstreamUrl}, openai-responses: ${upstreamUrl}, anthropic-messages: ${origin} }`,
    )
}

const endpoints = ['/v1/chat/completions', '/v1/messages', '/v1/responses'] as const

test('no secret of a client is kept, wherever it stands', async () => {
  bed.upstream.script(() => chatAnswer())
  await each(async ({ text }) => {
    // A client does not know it, so it is not looked for in what a client says.
    if (text === credential) return

    const inHeader = encodeURIComponent(text).replaceAll('%20', ' ')
    const said = [{ role: 'user', content: text, name: text }]
    await post(`/v1/chat/completions?key=${encodeURIComponent(text)}`, {
      body: {
        model: text,
        messages: said,
        user: text,
        metadata: { key: text },
        prompt_cache_key: text,
        [text]: [text],
      },
      headers: {
        'user-agent': inHeader,
        // A tag has at most 64 characters, and no comma.
        'x-tollgate-tags': inHeader.length <= 64 ? inHeader : 'a',
        'x-tollgate-session': inHeader,
        'idempotency-key': inHeader,
        [`x-${inHeader.replace(/[^a-z]/gi, '')}`.slice(0, 40)]: inHeader,
      },
    })
    await post('/v1/messages', {
      body: { model: 'any', max_tokens: 5, messages: said, metadata: { user_id: text } },
    })
    await post(`/v1/${encodeURIComponent(text)}/x`, { body: { model: text } })
    await post('/v1/chat/completions', {
      body: `{"model":"any","messages":[{"content":${JSON.stringify(text)}`,
    })
  })
  await expectNothingKept()
})

test('no secret of an upstream is kept, wherever it stands', async () => {
  // The prompt says which secret the answer has, and where.
  const plans = planted.map(({ text }) => plansWith(text))
  bed.upstream.script((request) => {
    const [, secret = '', plan = ''] = /secret (\d+) in plan (\d+)/.exec(request.body.toString()) ?? []
    return plans[Number(secret)]?.[Number(plan)]?.(request) ?? errorAnswer(500, {})
  })
  await each(async (secret) => {
    const index = planted.indexOf(secret)
    for (const at of plans[index]?.keys() ?? []) {
      const path = endpoints[at % endpoints.length] ?? endpoints[0]
      await post(path, { body: bodyFor(path, at % 2 === 1, `secret ${index} in plan ${at}`) })
    }
  })
  await expectNothingKept()
})

function bodyFor(path: string, stream: boolean, content: string): object {
  const said = [{ role: 'user', content }]
  const more = path === '/v1/messages' ? { max_tokens: 50 } : {}
  return {
    model: 'any',
    stream,
    ...(path === '/v1/responses' ? { input: said } : { messages: said }),
    ...more,
  }
}

/** Answers with the secret in every member, whole and streamed, in each format, and as errors. */
function plansWith(text: string): ((request: SeenRequest) => Plan)[] {
  const headers = { 'x-request-id': encodeURIComponent(text).slice(0, 400), 'request-id': 'r' }
  const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 }
  const chat = {
    id: text,
    object: 'chat.completion',
    created: 1,
    model: text,
    system_fingerprint: text,
    service_tier: text,
  }
  const choice = { index: 0, finish_reason: text }
  const error = { message: `Wrong key ${text} given`, type: text, code: text, param: text }
  const message = {
    ...{ id: text, type: 'message', role: 'assistant', model: text, stop_reason: text, stop_sequence: text },
    ...{ content: [{ type: 'text', text: 'Hello' }], usage: { input_tokens: 5, output_tokens: 5 } },
  }
  const response = {
    ...{
      id: text,
      object: 'response',
      status: 'incomplete',
      model: text,
      incomplete_details: { reason: text },
    },
    ...{ output: [], usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 } },
  }
  const whole =
    (body: object): (() => Plan) =>
    () => ({ headers, body: JSON.stringify(body) })
  const streamed =
    (chunks: string[]): (() => Plan) =>
    () => ({ headers, chunks, ending: 'end' })
  const named = (type: string, data: object) => `event: ${type}\n${frame({ type, ...data })}`
  return [
    // In turn for chats, Messages and Responses; every second one is asked as a stream.
    whole({ ...chat, choices: [{ ...choice, message: { role: 'assistant', content: 'Hello' } }], usage }),
    streamed([
      named('message_start', { message: { ...message, stop_reason: null, content: [] } }),
      named('message_delta', { delta: { stop_reason: text }, usage: { output_tokens: 5 } }),
      named('message_stop', {}),
    ]),
    whole(response),
    streamed([
      frame({ ...chat, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'a' } }] }),
      frame({ ...chat, object: 'chat.completion.chunk', choices: [{ ...choice, delta: {} }], usage }),
      'data: [DONE]\n\n',
    ]),
    whole(message),
    streamed([named('response.created', { response }), named('response.incomplete', { response })]),
    () => errorAnswer(400, error, headers),
    streamed([named('error', { error })]),
    () => errorAnswer(500, error, headers),
    streamed([frame({ error })]),
    () => ({ status: 403, headers: { ...headers, 'content-type': 'text/plain' }, body: text }),
    streamed([named('response.failed', { response: { ...response, status: 'failed', error } })]),
  ]
}

async function each(act: (secret: PlantedSecret) => Promise<void>): Promise<void> {
  const left = [...planted]
  const worker = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await act(next)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

async function post(
  path: string,
  { body, headers = {} }: { body: object | string; headers?: Record<string, string> },
): Promise<string> {
  const ask = () =>
    fetch(bed.tollgate.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        authorization: `Bearer ${freeKey}`,
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  // Once more: the gateway may have closed the kept connection in the meantime.
  const response = await ask().catch(ask)
  await response.text().catch((error: unknown) => expect(String(error)).toContain('terminated'))
  return response.headers.get('x-request-id') ?? ''
}

/**
 * Looks in every column of every table, in the export, in the archive, in the files of the journal, in the log, in traces and in metrics.
 * A backup is made of the tables and the files of DATA_DIR.
 */
async function expectNothingKept(): Promise<void> {
  await bed.tollgate.ship()
  const { sql } = bed.database
  const tables = await sql<{ name: string }[]>`
    SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname !~ '^pg_|^information_schema$' AND c.relkind IN ('r', 'p') AND NOT c.relispartition`
  const kept = await Promise.all(
    tables.map(async ({ name }) => ({
      name,
      text: JSON.stringify(await sql`SELECT t::text FROM ${sql.unsafe(name)} t`),
    })),
  )
  kept.push(...(await archived()))
  for (const format of ['csv', 'ndjson']) {
    const response = await fetch(`${bed.tollgate.url}/v1/usage/export?format=${format}`, {
      headers: { authorization: `Bearer ${freeKey}` },
    })
    kept.push({ name: format, text: await response.text() })
  }
  const { dataDir } = bed.tollgate
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
    if (name.includes('.')) kept.push({ name, text: readIfFile(join(dataDir, name)) })
  kept.push({ name: 'log', text: bed.tollgate.stderr() })
  // Traces are exported in the order in which their requests end.
  const last = await post('/v1/chat/completions', {
    body: bodyFor('/v1/chat/completions', false, 'the last'),
  })
  await collector.traceOf(last)
  const spans = collector.spans.map(({ name, attributes, events }) =>
    JSON.stringify([name, attributes, events], text),
  )
  kept.push({ name: 'traces', text: spans.join('\n') })
  kept.push({ name: 'metrics', text: (await scrape(await metricsUrl(bed.tollgate))).text })
  expect(kept.find(({ name }) => name === 'public.requests')?.text).toContain('[REDACTED')
  expect(kept.find(({ name }) => name === 'csv')?.text).toContain('[REDACTED')
  expect(kept.find(({ name }) => name === 'archived requests')?.text).toContain('[REDACTED')
  const leaks = kept.flatMap(({ name, text }) =>
    planted.flatMap((secret) => {
      const part = partsOf(secret).find((each) => text.includes(each))
      return part === undefined ? [] : [`${secret.kind} in ${name}: ${around(text, part)}`]
    }),
  )
  expect(leaks).toEqual([])
}

/** What the files of the archive would have of today. */
async function archived(): Promise<{ name: string; text: string }[]> {
  const { sql } = bed.database
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-planted-'))
  const duck = await openDuck({ memoryBytes: 256 * 1024 * 1024, threads: 1 }, join(directory, 'scratch'), [
    directory,
  ])
  const connection = await duck.connect()
  const found: { name: string; text: string }[] = []
  try {
    for (const table of archivedTables) {
      const pieces: string[] = []
      const partitions = await sql<{ name: string }[]>`
        SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = ${table}::regclass`
      for (const { name } of partitions) {
        const path = join(directory, `${name}.parquet`)
        await extractPartition({ sql, duck, connection }, name, await columnsOf(sql, name), path)
        const rows = await connection.runAndReadAll(`SELECT * FROM read_parquet('${path}')`)
        pieces.push(JSON.stringify(rows.getRowsJson()))
      }
      found.push({ name: `archived ${table}`, text: pieces.join('\n') })
    }
  } finally {
    connection.closeSync()
    duck.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return found
}

/** Enough of them that no 24 characters of the secret can stand anywhere unseen. */
function partsOf({ random }: PlantedSecret): string[] {
  return random.match(/[\w+/=.-]{12}/g) ?? []
}

function around(text: string, part: string): string {
  const at = text.indexOf(part)
  return text.slice(Math.max(0, at - 120), at + 40)
}

function readIfFile(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** JSON knows no bigint. */
function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
