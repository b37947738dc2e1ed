import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { gatewayError } from '../canonical/error.ts'
import { adopt } from '../confine.ts'
import { endAnswer, writeTo } from '../http/event-stream.ts'
import { sniff, sniffBytes } from './storage/sniff.ts'
import type { ImageStorage, StoredImage } from './storage/storage.ts'

/**
 * Rejects `unknown_path` for an image that is no longer kept. Any other error is a failure of the storage,
 * which may pass.
 */
export async function openImage(storage: ImageStorage, file: string): Promise<StoredImage> {
  const stored = await storage.open(file)
  if (stored !== undefined) {
    adopt(stored.stream)
    return stored
  }
  throw gatewayError('image_gone')
}

/**
 * Write the image as base64, in pieces, so that we never hold it whole. Rejects when the client leaves or a
 * read fails.
 */
export async function writeBase64(
  { stream }: StoredImage,
  write: (text: string) => Promise<void>,
  response: ServerResponse,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  await reading(stream, response, async () => {
    for await (const chunk of stream) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      // Three bytes make four characters: the rest waits for the next chunk.
      const whole = bytes.length - (bytes.length % 3)
      await write(bytes.toString('base64', 0, whole))
      rest = bytes.subarray(whole)
    }
  })
  if (rest.length > 0) await write(rest.toString('base64'))
}

/**
 * Answer with an image. Its client may keep it for `keepSeconds`. Closes the connection when the client has
 * read nothing for `stallMs`.
 */
export async function sendFile(
  storage: ImageStorage,
  file: string,
  response: ServerResponse,
  { keepSeconds, stallMs }: { keepSeconds: number; stallMs: number },
): Promise<void> {
  const stored = await openImage(storage, file)
  const first: Buffer[] = []
  let firstBytes = 0
  const chunks = stored.stream.iterator({ destroyOnReturn: false })
  while (firstBytes < sniffBytes) {
    const { value, done } = await chunks.next()
    if (done === true) break
    first.push(value)
    firstBytes += value.length
  }
  response.writeHead(200, {
    'content-type': sniff(Buffer.concat(first)) ?? 'application/octet-stream',
    'content-length': stored.bytes,
    // The bytes never change, but who has them from a cache needs no link.
    'cache-control': `private, max-age=${keepSeconds}, immutable`,
    'x-content-type-options': 'nosniff',
    // An SVG can hold scripts.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  })
  const whole = reading(stored.stream, response, async () => {
    for (const chunk of first) await writeTo(response, chunk, stallMs)
    for await (const chunk of chunks) await writeTo(response, chunk, stallMs)
  })
  await whole.then(
    () => endAnswer(response, stallMs),
    // The client left, or the storage failed after the headers: only a closed connection can tell the client.
    () => response.destroy(),
  )
}

/** Run `read`, and stop reading from the storage when the client leaves. */
async function reading(stream: Readable, response: ServerResponse, read: () => Promise<void>): Promise<void> {
  const leave = () => stream.destroy()
  response.once('close', leave)
  if (response.destroyed) leave()
  try {
    await read()
  } finally {
    response.off('close', leave)
    stream.destroy()
  }
}
