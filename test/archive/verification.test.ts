import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { makePartitions } from '../../src/db/make-partitions.ts'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import { openDuck } from '../../src/usage/archive/duck.ts'
import { startS3 } from '../support/s3.ts'
import { aBed } from './archive-bed.ts'
import { idAt, midnight, seedDay } from './seeded-log.ts'

test('a file that is damaged after it was stored is found, and nothing is dropped', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(10), 50, bed.seed)
  const before = await bed.all({})
  const pass = await archivePass(bed.options, (step, table) => {
    if (step !== 'stored') return
    const [file = ''] = bed.files().filter((name) => name.startsWith(table.replace('request_', '')))
    const path = join(bed.directory, 'archive', file)
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
    writeFileSync(path, bytes)
  })
  expect(pass?.failed.map(({ table, reason }) => [table, reason.includes('is damaged')])).toEqual([
    ['requests', true],
    ['attempts', true],
    ['request_payloads', true],
    ['request_answers', true],
  ])
  expect(await bed.locations()).toEqual([])
  expect(await bed.countOf('requests', midnight(10))).toBe(50)
  expect(await bed.all({})).toEqual(before)
  expect(await archivePass(bed.options)).toMatchObject({ archived: 4, failed: [] })
  expect(bed.files()).toEqual(await bed.locations())
  expect(await bed.all({})).toEqual(before)
})

test('a file with other rows than the partition is found by its sums, and nothing is dropped', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(10), 50, bed.seed)
  // After the rows are in the file, and before Postgres sums them up for the last time.
  const pass = await archivePass(bed.options, async (step, table) => {
    if (step === 'verified' && table === 'requests')
      await bed.sql`UPDATE requests SET cost_nano = cost_nano + 1 WHERE cost_nano IS NOT NULL`
  })
  expect(pass).toMatchObject({ archived: 3, postponed: 1 })
  expect(await bed.countOf('requests', midnight(10))).toBe(50)
  const before = await bed.all({})
  expect(await archivePass(bed.options)).toMatchObject({ archived: 1, postponed: 0 })
  expect(await bed.all({})).toEqual(before)
})

test('rows that come while their day is archived, and days after it, are found and archived too', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(10), 50, bed.seed)
  const late = async () => {
    const id = idAt(midnight(10) + 7_200_000)
    await bed.sql`
      INSERT INTO requests (id, created_at, tenant_id, endpoint, stream, status, outcome, usage_source, attempt_count, tags)
      VALUES (${id}, ${new Date(midnight(10) + 7_200_000)}, ${bed.scope.tenantId}, '/late', false, 200, 'succeeded', 'none', 0, '{late}')`
    return id
  }
  let during = ''
  const pass = await archivePass(bed.options, async (step, table) => {
    if (step === 'verified' && table === 'requests') during = await late()
  })
  expect(pass).toMatchObject({ archived: 3, postponed: 1, failed: [] })
  expect(await archivePass(bed.options)).toMatchObject({ archived: 1, failed: [] })
  expect((await bed.all(filterFrom(filterQuery.parse({ endpoint: '/late' })))).map(({ id }) => id)).toEqual([
    during,
  ])

  const before = await bed.all({})
  const after = await late()
  const withLate = await bed.all({})
  expect(withLate.length).toBe(before.length + 1)
  expect((await bed.all(filterFrom(filterQuery.parse({ tag: 'late' })))).map(({ id }) => id).sort()).toEqual(
    [during, after].sort(),
  )
  // The upkeep makes the partition of a day that has rows in DEFAULT.
  await makePartitions(bed.sql, 1)
  expect(await bed.all({})).toEqual(withLate)
  expect(await archivePass(bed.options)).toMatchObject({ failed: [], postponed: 0 })
  expect(await bed.countOf('requests', midnight(10))).toBe(0)
  expect(await bed.all({})).toEqual(withLate)
  const parts = await bed.archive.parts('requests', {})
  expect(parts.map(({ location }) => location.replace(/.*\//, '')).sort()).toEqual([
    'part-1.parquet',
    'part-2.parquet',
  ])
})

test('an S3 bucket has the files, and the local cache fetches and forgets them', async () => {
  const s3 = await startS3()
  const bed = await aBed(
    { place: { kind: 's3', bucket: { ...s3.options, prefix: 'log/' } } },
    { cacheBytes: 1 },
  )
  try {
    for (const day of [7, 8, 9, 10]) await seedDay(bed.sql, midnight(day), 30, bed.seed)
    const before = await bed.all({})
    expect(await archivePass(bed.options)).toMatchObject({ archived: 16, failed: [] })
    expect(await s3.objects()).toEqual((await bed.locations()).map((name) => `log/${name}`))
    expect(await bed.all({})).toEqual(before)
    // The bound is smaller than a file: each turn of days keeps only what it uses.
    expect(bed.copies().length).toBeLessThanOrEqual(3)

    const [part] = await bed.archive.parts('requests', {})
    bed.forgetCopies()
    await s3.put(`log/${part?.location}`, 'damaged')
    await expect(bed.all({})).rejects.toMatchObject({ reason: 'archive_away' })
  } finally {
    await s3.close()
  }
})

test('the bytes of a stored object are read back from the bucket: a damaged one drops nothing', async () => {
  const s3 = await startS3()
  const bed = await aBed({ place: { kind: 's3', bucket: s3.options } })
  try {
    await seedDay(bed.sql, midnight(10), 30, bed.seed)
    const pass = await archivePass(bed.options, async (step) => {
      if (step === 'stored') for (const key of await s3.objects()) await s3.put(key, 'damaged')
    })
    expect(pass).toMatchObject({ archived: 0 })
    expect(await bed.countOf('requests', midnight(10))).toBe(30)
    expect(await s3.objects()).toEqual([])
  } finally {
    await s3.close()
  }
})

test('two archivers do not work at once, and one that was replaced cannot put its file in force', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(10), 30, bed.seed)
  const pass = await archivePass(bed.options, async (step, table) => {
    if (table !== 'requests') return
    if (step === 'begun')
      expect(await archivePass({ ...bed.options, staging: `${bed.options.staging}-2` })).toBeUndefined()
    // As an archiver does that finds what this one has begun.
    if (step === 'summed') await bed.sql`UPDATE archived_days SET state = 'abandoned', abandoned_at = now()`
  })
  expect(pass).toMatchObject({ archived: 3, postponed: 1 })
  expect(await bed.countOf('requests', midnight(10))).toBe(30)
})

test('DuckDB loads no extension, opens no connection, and reads files of the archive alone', async () => {
  const bed = await aBed()
  const duck = await openDuck(bed.options.duck, join(bed.directory, 'scratch'), [bed.directory])
  const connection = await duck.connect()
  await connection.run(`COPY (SELECT 1 AS one) TO '${bed.directory}/one.parquet' (FORMAT parquet)`)
  for (const statement of [
    'INSTALL httpfs',
    'LOAD httpfs',
    "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
    "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "SELECT * FROM read_text('/etc/hostname')",
    `ATTACH '/tmp/${randomUUID()}.duckdb'`,
    'SET enable_external_access = true',
    'SET autoload_known_extensions = true',
  ])
    await expect(connection.run(statement), statement).rejects.toThrow(/disabled|locked|not allowed|Cannot/i)
  connection.closeSync()
  duck.close()
})

test('however many files were abandoned, each is deleted before it is forgotten', async () => {
  const bed = await aBed()
  await bed.sql`
    INSERT INTO archived_days (day, table_name, part, state, location, started_at, abandoned_at)
    SELECT day::date, 'requests', 0, 'abandoned', 'requests/day=' || day::date || '/part-0.parquet', day, now() - interval '8 days'
    FROM generate_series(now() - interval '1500 days', now() - interval '100 days', interval '1 day') AS day`
  const [newest] = await bed.sql<{ location: string }[]>`
    SELECT location FROM archived_days ORDER BY day DESC LIMIT 1`
  const path = join(bed.directory, 'archive', newest?.location ?? '')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'a file whose time is over')
  await archivePass(bed.options)
  expect(await bed.sql`SELECT FROM archived_days`).toHaveLength(0)
  expect(bed.files()).toEqual([])
})

test('a file that an archiver left half-way is deleted when its time is over, also where nothing is archived any more', async () => {
  for (const hotDays of [5, 0]) {
    const bed = await aBed({ hotDays, rowDays: 90 })
    await seedDay(bed.sql, midnight(10), 5, bed.seed)
    const location = 'requests/day=2020-01-01/part-0.parquet'
    await bed.sql`
      INSERT INTO archived_days (day, table_name, part, state, location, started_at)
      VALUES ('2020-01-01', 'requests', 0, 'writing', ${location}, now())`
    const path = join(bed.directory, 'archive', location)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'what people wrote')
    await archivePass(bed.options)
    expect(bed.files()).not.toContain(location)
    expect(await bed.sql`SELECT state FROM archived_days WHERE day = '2020-01-01'`).toEqual([
      { state: 'abandoned' },
    ])
  }
})

test('the local files of a day are deleted with the end of the day, so that a pass over many fits on the disk', async () => {
  const bed = await aBed()
  for (const day of [8, 9, 10]) await seedDay(bed.sql, midnight(day), 20, bed.seed)
  const left: string[] = []
  const pass = await archivePass(bed.options, (step) => {
    if (step === 'begun') left.push(...readdirSync(bed.options.staging).filter((name) => name !== 'scratch'))
  })
  expect(pass).toMatchObject({ archived: 12, failed: [] })
  expect(left).toEqual([])
})

test('what DuckDB leaves behind goes with its process, also when that is killed', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(10), 5, bed.seed)
  await archivePass(bed.options)
  const cache = join(bed.directory, 'cache')
  const scratches = () => readdirSync(cache).filter((name) => name.startsWith('scratch-'))
  for (const end of [(pid: number) => void process.kill(pid, 'SIGKILL'), () => bed.reader.close()]) {
    await bed.all({})
    const [scratch = ''] = scratches()
    writeFileSync(join(cache, scratch, 'duckdb_temp_storage_DEFAULT-0.tmp'), 'spilled')
    end(Number(scratch.slice('scratch-'.length)))
    await expect.poll(scratches).toEqual([])
  }
})
