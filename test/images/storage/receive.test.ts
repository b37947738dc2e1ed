import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import { fileStorage } from '../../../src/storage/files.ts'
import { receiveImage } from '../../../src/storage/receive.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-images-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Names of all files, complete or not. */
const files = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'))

const png = (bytes: number) =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(bytes - 8, 7)])

async function refusal(
  doing: Promise<unknown>,
): Promise<Pick<GatewayError, 'kind' | 'reason' | 'message' | 'fault'>> {
  const error = await doing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof GatewayError))
    throw new Error('not refused as the client may see it', { cause: error })
  const { kind, reason, message, fault } = error
  return { kind, reason, message, fault }
}

test.each([1, 7, 4095, 4096, 4097, 20_000])(
  'an image that arrives in pieces of %i bytes is stored whole',
  async (size) => {
    const storage = fileStorage({ directory })
    const receiver = receiveImage(storage, 20_000)
    const whole = png(20_000)
    for (let at = 0; at < whole.length; at += size) await receiver.write(whole.subarray(at, at + size))
    const { file, contentType, bytes } = await receiver.finish()
    expect({ contentType, bytes }).toEqual({ contentType: 'image/png', bytes: 20_000 })
    const image = await storage.open(file)
    expect(image && (await buffer(image.stream)).equals(whole)).toBe(true)
  },
)

test('an image that is smaller than the sniffed bytes is stored', async () => {
  const storage = fileStorage({ directory })
  const receiver = receiveImage(storage, 20_000)
  await receiver.write(Buffer.from('<svg/>'))
  expect(await receiver.finish()).toMatchObject({ contentType: 'image/svg+xml', bytes: 6 })
})

test('bytes that are not an image are refused as soon as possible, and never written', async () => {
  const noImage = {
    kind: 'upstream_error',
    reason: 'upstream_image_unreadable',
    message: 'The upstream sent something that is not an image.',
    fault: 'upstream',
  }
  const storage = fileStorage({ directory })
  const long = receiveImage(storage, 20_000)
  await long.write(Buffer.alloc(4095, 'x'))
  expect(await refusal(long.write(Buffer.from('x')))).toEqual(noImage)
  expect(await refusal(long.write(png(100)))).toEqual(noImage)
  expect(await refusal(long.finish())).toEqual(noImage)

  const short = receiveImage(storage, 20_000)
  await short.write(Buffer.from('{"error":"no"}'))
  expect(await refusal(short.finish())).toEqual(noImage)
  expect(await refusal(receiveImage(storage, 20_000).finish())).toEqual(noImage)
  expect(files()).toEqual([])
})

test('an image that is too large is refused, and leaves nothing', async () => {
  const storage = fileStorage({ directory })
  const receiver = receiveImage(storage, 10_000)
  await receiver.write(png(10_000))
  expect(files()).toHaveLength(1)
  expect(await refusal(receiver.write(Buffer.from('x')))).toEqual({
    kind: 'upstream_error',
    reason: 'upstream_image_too_large',
    message: 'The upstream sent an image of more than 10000 bytes.',
    fault: 'upstream',
  })
  expect(files()).toEqual([])
  expect((await refusal(receiver.finish())).message).toContain('more than 10000 bytes')
  expect(files()).toEqual([])
})

test('an image that cannot be stored is our fault, not that of upstream or client', async () => {
  const storage = fileStorage({ directory, openFile: () => open('/dev/full', 'w') })
  const receiver = receiveImage(storage, 20_000)
  const unkept = {
    reason: 'image_storage_away',
    fault: 'gateway',
    cause: expect.objectContaining({ message: expect.stringContaining('no space left') }),
  }
  await expect(receiver.write(png(5000))).rejects.toMatchObject(unkept)
  await expect(receiver.finish()).rejects.toMatchObject(unkept)
})

test('an abandoned image leaves nothing, before, during and after its storing', async () => {
  const storage = fileStorage({ directory })
  const early = receiveImage(storage, 20_000)
  await early.write(png(100))
  await early.abandon()
  await expect(early.finish()).rejects.toThrow('abandoned')

  const writing = receiveImage(storage, 20_000)
  const wrote = expect(writing.write(png(5000))).rejects.toThrow('abandoned')
  await writing.abandon()
  await wrote

  const finishing = receiveImage(storage, 20_000)
  await finishing.write(png(5000))
  const finished = expect(finishing.finish()).rejects.toThrow('abandoned')
  await finishing.abandon()
  await finished

  const done = receiveImage(storage, 20_000)
  await done.write(png(5000))
  const { file } = await done.finish()
  await done.abandon()
  expect(await storage.open(file)).toBeUndefined()
  expect(files()).toEqual([])
})
