import { createServer, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendExport } from '../../src/api/export/send-export.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Files of the usage log. */

const rowsMax = 3_000
let bed: Testbed
let base: string
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken, EXPORT_ROWS_MAX: String(rowsMax) } })
  base = `http://127.0.0.1:${bed.tollgate.port}`
})
afterAll(() => bed.close())

/** The rows of each test have an end user of their own. */
let endUsers = 0

interface Row {
  [column: string]: string | number | boolean | string[] | null
}

const start = Date.now() - 60_000

async function add(rows: readonly Row[]): Promise<string> {
  const endUser = `user-${endUsers++}`
  const all = rows.map((row, at) => {
    const ms = start + at
    const hex = ms.toString(16).padStart(12, '0')
    const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(endUsers).padStart(12, '0')}`
    return {
      ...{ id, created_at: new Date(ms), endpoint: '/v1/messages', stream: false, status: 200 },
      ...{ outcome: 'succeeded', usage_source: 'upstream', attempt_count: 1, end_user: endUser },
      ...{
        error_message: null,
        error_kind: null,
        cost_nano: null,
        tags: null,
        notes: null,
        user_agent: null,
      },
      ...row,
    }
  })
  for (let at = 0; at < all.length; at += 1_000) {
    const part = all.slice(at, at + 1_000)
    await bed.database.sql`insert into requests ${bed.database.sql(part)}`
  }
  return endUser
}

interface Received {
  status: number | undefined
  headers: IncomingMessage['headers']
  trailers: IncomingMessage['trailers']
  bytes: Buffer
}

function download(query: string): Promise<Received> {
  return new Promise((resolve, reject) => {
    get(
      `${base}/admin/v1/requests/export?${query}`,
      { headers: { authorization: `Bearer ${adminToken}` } },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part) => parts.push(part))
        response.once('error', reject)
        response.once('end', () =>
          resolve({
            status: response.statusCode,
            headers: response.headers,
            trailers: response.trailers,
            bytes: Buffer.concat(parts),
          }),
        )
      },
    ).once('error', reject)
  })
}

test('an answer to HEAD has the headers of a file, and a client of HTTP/1.0 gets the file without trailers', async () => {
  const query = `end_user=${await add([{}, {}])}&format=ndjson`
  const path = `/admin/v1/requests/export?${query}`
  const head = await fetch(`${base}${path}`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${adminToken}` },
  })
  expect(head.status).toBe(200)
  expect(head.headers.get('content-type')).toContain('ndjson')
  const socket = connect(bed.tollgate.port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.0\r\nauthorization: Bearer ${adminToken}\r\n\r\n`)
  const [headers = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  expect(headers).toContain(' 200 OK')
  expect(headers).not.toMatch(/^trailer:/im)
  expect(body.trimEnd().split('\n')).toHaveLength(2)
})

test('CSV: cells that a spreadsheet would run are texts, quotes are doubled, and numbers stay numbers', async () => {
  const endUser = await add([
    { error_message: '=HYPERLINK("http://evil")', cost_nano: '-5' },
    { error_message: '+1', cost_nano: '9007199254740993' },
    { error_message: '-2+3' },
    { error_message: '@SUM(A1)' },
    { error_message: '\t=1' },
    { error_message: 'two\r\nlines, "quoted"' },
    { error_message: 'a=b', tags: ['=x', 'y'] },
  ])
  const { status, headers, trailers, bytes } = await download(
    `end_user=${endUser}&sort=created_at&columns=cost_nano,error_message,tags`,
  )
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': 'attachment; filename="requests.csv"',
  })
  expect(bytes.toString()).toBe(
    [
      'cost_nano,error_message,tags',
      `-5,"'=HYPERLINK(""http://evil"")",`,
      `9007199254740993,'+1,`,
      `,'-2+3,`,
      `,'@SUM(A1),`,
      `,'\t=1,`,
      ',"two\r\nlines, ""quoted""",',
      ',a=b,"[""=x"",""y""]"',
      '',
    ].join('\r\n'),
  )
  expect(trailers).toMatchObject({ 'x-tollgate-rows': '7', 'x-tollgate-cut': 'false' })
})

test('NDJSON and Parquet have the same rows, in the order of the list, with money to the last digit', async () => {
  const rows = Array.from(
    { length: 2_300 },
    (_, at): Row => ({
      cost_nano: at % 3 === 0 ? null : String(9_007_199_254_740_993n + BigInt(at)),
      error_message: at % 2 === 0 ? `Überfluss ${at}\n😀` : null,
      notes: at % 5 === 0 ? JSON.stringify([{ path: 'a', action: 'dropped', reason: String(at) }]) : null,
      tags: at % 7 === 0 ? ['a', `b${at}`] : null,
      stream: at % 2 === 0,
    }),
  )
  const endUser = await add(rows)
  const query = `end_user=${endUser}&columns=id,created_at,status,stream,cost_nano,error_message,notes,tags,tenant`
  const lines = (await download(`${query}&format=ndjson`)).bytes.toString().trimEnd().split('\n')
  const json = lines.map((line) => JSON.parse(line))
  expect(json).toHaveLength(rows.length)
  expect(json.map(({ cost_nano }) => cost_nano).toReversed()).toEqual(rows.map(({ cost_nano }) => cost_nano))
  expect(json.at(-1)).toEqual({
    ...{ id: json.at(-1).id, created_at: new Date(start).toISOString(), status: 200, stream: true },
    ...{ cost_nano: null, error_message: 'Überfluss 0\n😀', tags: ['a', 'b0'], tenant: null },
    notes: [{ path: 'a', action: 'dropped', reason: '0' }],
  })
  const file = await download(`${query}&format=parquet`)
  expect(file.headers['content-type']).toBe('application/vnd.apache.parquet')
  const bytes = new Uint8Array(file.bytes).buffer
  const read = await parquetReadObjects({ file: bytes })
  expect(
    read.map((row) => ({
      ...row,
      created_at: row.created_at.toISOString(),
      cost_nano: row.cost_nano === null ? null : String(row.cost_nano),
      // One text is JSON in both.
      notes: row.notes ?? null,
    })),
  ).toEqual(json)
})

test('an export with no rows is a file too, and one with too many says that it is cut', async () => {
  const none = await download('end_user=nobody&columns=id')
  expect(none.bytes.toString()).toBe('id\r\n')
  const empty = await download('end_user=nobody&columns=id,cost_nano&format=parquet')
  expect(await parquetReadObjects({ file: new Uint8Array(empty.bytes).buffer })).toEqual([])
  const endUser = await add(Array.from({ length: rowsMax + 1 }, () => ({})))
  const { bytes, trailers } = await download(`end_user=${endUser}&columns=id`)
  expect(bytes.toString().trimEnd().split('\r\n')).toHaveLength(rowsMax + 1)
  expect(trailers).toEqual({ 'x-tollgate-rows': String(rowsMax), 'x-tollgate-cut': 'true' })
})

test('a column that there is not, and a wrong filter, are refused before a file begins', async () => {
  for (const [query, told] of [
    ['columns=id,secret_hash', 'columns: there is no column \\"secret_hash\\"'],
    ['status=teapot', 'status: expected a status'],
    ['from=2026-01-02&to=2026-01-01', 'to: expected a time after'],
  ]) {
    const { status, bytes } = await download(query ?? '')
    expect(status).toBe(400)
    expect(bytes.toString()).toContain(told)
  }
})

/** Serve one export of these batches. Resolves with the address of the server. */
async function serve(batches: () => AsyncGenerator<string[][]>) {
  const server = createServer((_, response) => {
    const left = new AbortController()
    response.once('close', () => left.abort(new Error('the client has left')))
    const columns = [{ name: 'text', kind: 'text' as const }]
    const options = { name: 'x', rowsMax: 1_000_000, stallMs: 60_000, signal: left.signal }
    sendExport(response, batches(), { format: 'csv', columns, ...options }).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('no batch is read that a slow client has no room for, and none after the client has left', async () => {
  let pulled = 0
  const ended = Promise.withResolvers<void>()
  const { server, url } = await serve(async function* () {
    try {
      for (; pulled < 5_000; pulled++) yield [['x'.repeat(1024 * 1024)]]
    } finally {
      ended.resolve()
    }
  })
  const response = await new Promise<IncomingMessage>((resolve) => get(url, resolve))
  await new Promise((resolve) => response.once('readable', resolve))
  response.destroy()
  await ended.promise
  // What fits into the buffers of the sockets, and not 5 GB.
  expect(pulled).toBeLessThan(200)
  server.close()
})

test('a failure in the middle cuts the connection, so that the part is not taken for the whole', async () => {
  const { server, url } = await serve(async function* () {
    yield [['one']]
    throw new Error('Postgres is down')
  })
  const response = await new Promise<IncomingMessage>((resolve) => get(url, resolve))
  const parts: Buffer[] = []
  response.on('data', (part) => parts.push(part))
  await new Promise((resolve) => response.once('error', resolve))
  expect(Buffer.concat(parts).toString()).toBe('text\r\none\r\n')
  server.close()
})
