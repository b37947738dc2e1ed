import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type DoctorBed, startDoctorBed } from '../support/doctor-bed.ts'
import { type S3Server, startS3 } from '../support/s3.ts'

/** `tollgate doctor` and the bucket of images and files. */
let bed: DoctorBed
let s3: S3Server
beforeAll(async () => {
  ;[bed, s3] = await Promise.all([startDoctorBed(), startS3()])
})
afterAll(async () => {
  await bed?.close()
  await s3?.close()
})

const settings = (endpoint = s3.options.endpoint) => ({
  S3_BUCKET: s3.options.bucket,
  S3_ENDPOINT: endpoint,
  S3_PREFIX: s3.options.prefix,
  S3_ACCESS_KEY_ID: s3.options.accessKeyId,
  S3_SECRET_ACCESS_KEY: s3.options.secretAccessKey,
})

/** The same bucket, whose owner grants less, or whose clock is another. */
async function behind({ refuses = '', aheadMs = 0 }: { refuses?: string; aheadMs?: number }) {
  const { port } = new URL(s3.options.endpoint)
  const front = createServer((asked: IncomingMessage, answer: ServerResponse) => {
    const date = new Date(Date.now() + aheadMs).toUTCString()
    if (asked.method === refuses) {
      asked.resume()
      answer.writeHead(403, { 'content-type': 'application/xml', date })
      answer.end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>not yours</Message></Error>')
      return
    }
    const { method, url: path, headers } = asked
    const passed = request({ port, host: '127.0.0.1', method, path, headers }, (said) => {
      answer.writeHead(said.statusCode ?? 500, { ...said.headers, date })
      said.pipe(answer)
    })
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    front.closeAllConnections()
    front.close()
  })
  await new Promise((listening) => front.once('listening', listening))
  const { port: own } = front.address() as AddressInfo
  return settings(`http://127.0.0.1:${own}`)
}

test('a bucket in which objects can be written, read and deleted is well, and as it was', async () => {
  const before = await s3.objects()
  const found = await bed.diagnose(settings())
  expect(found.wrong, found.text).toEqual([])
  expect(found.finding('storage.bucket')).toMatchObject({
    verdict: 'well',
    what: expect.stringContaining('written, read and deleted'),
  })
  expect(await s3.objects()).toEqual(before)
})

test('the bucket of archived days is looked at where HOT_DAYS moves days there', async () => {
  const { S3_BUCKET, ...rest } = settings()
  const found = await bed.diagnose({ ...rest, HOT_DAYS: '14', ARCHIVE_S3_BUCKET: S3_BUCKET })
  expect(found.wrong, found.text).toEqual([])
  expect(found.finding('storage.bucket')?.what).toContain('for archived days')
})

test.each([
  ['PUT', 'storage.write', 'cannot be written', 's3:PutObject'],
  ['DELETE', 'storage.delete', 'cannot be deleted', 's3:DeleteObject'],
])('a bucket that refuses %s is wrong', async (refuses, code, what, right) => {
  const found = await bed.diagnose(await behind({ refuses }))
  expect(found.wrong, found.text).toEqual([code])
  expect(found.finding(code)).toMatchObject({
    what: expect.stringContaining(what),
    why: expect.stringContaining('AccessDenied'),
    do: expect.stringContaining(right),
  })
  for (const object of await s3.objects()) expect(found.finding(code)?.why).toContain(object)
})

test('a bucket that refuses its list is wrong', async () => {
  expect((await bed.diagnose(await behind({ refuses: 'GET' }))).wrong).toEqual(['storage.refused'])
})

test('a clock a minute ahead is a warning, one of twenty minutes is wrong', async () => {
  const minute = await bed.diagnose(await behind({ aheadMs: 60_000 }))
  expect(minute.finding('storage.clock'), minute.text).toMatchObject({
    verdict: 'warning',
    what: expect.stringMatching(/is (59|60|61) s ahead of that of this machine/),
  })
  const far = await bed.diagnose(await behind({ aheadMs: -20 * 60_000 }))
  expect(far.finding('storage.clock')).toMatchObject({
    verdict: 'wrong',
    what: expect.stringMatching(/s behind that of this machine/),
  })
})

test('no bucket is asked with --offline', async () => {
  const asked = s3.requests.length
  const found = await bed.diagnose(settings(), { args: ['--offline'] })
  expect(found.finding('storage.offline')).toMatchObject({ verdict: 'skipped' })
  expect(s3.requests.length).toBe(asked)
})
