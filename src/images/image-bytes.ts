import type { Readable } from 'node:stream'
import { gatewayError } from '../canonical/error.ts'
import { endAnswer, writeTo } from '../http/event-stream.ts'
import type { ExchangeReply } from '../http/exchange.ts'
import { adopt } from '../runtime/confine.ts'
import { sniff, sniffBytes } from '../storage/sniff.ts'
import type { ImageStorage, StoredImage } from '../storage/storage.ts'

/**
 * Rejects with `unknown_path` if the image is no longer stored. Any other error is a failure of the storage,
 * which may be temporary.
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
 * Writes the image as base64 in pieces, so that it is never held in memory as a whole. Rejects if the client
 * disconnects or a read fails.
 */
export async function writeBase64(
  { stream }: StoredImage,
  write: (text: string) => Promise<void>,
  reply: ExchangeReply,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  await reading(stream, reply, async () => {
    for await (const chunk of stream) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      // Three bytes become four characters, so any remaining bytes wait for the next chunk.
      const whole = bytes.length - (bytes.length % 3)
      await write(bytes.toString('base64', 0, whole))
      rest = bytes.subarray(whole)
    }
  })
  if (rest.length > 0) await write(rest.toString('base64'))
}

/**
 * Responds with an image, which the client may cache for `keepSeconds`. Closes the connection if the client
 * has read nothing for `stallMs`.
 */
export async function sendFile(
  storage: ImageStorage,
  file: string,
  reply: ExchangeReply,
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
  reply.writeHead(200, {
    'content-type': sniff(Buffer.concat(first)) ?? 'application/octet-stream',
    'content-length': stored.bytes,
    // The bytes never change, but a copy from a shared cache would be readable without a link.
    'cache-control': `private, max-age=${keepSeconds}, immutable`,
    'x-content-type-options': 'nosniff',
    // An SVG can contain scripts.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  })
  const whole = reading(stored.stream, reply, async () => {
    for (const chunk of first) await writeTo(reply, chunk, stallMs)
    for await (const chunk of chunks) await writeTo(reply, chunk, stallMs)
  })
  await whole.then(
    () => endAnswer(reply, stallMs),
    // The client disconnected, or the storage failed after the headers were sent. In the latter case, closing
    // the connection is the only way to tell the client.
    () => reply.destroy(),
  )
}

/** Runs `read`, and stops reading from the storage if the client disconnects. */
async function reading(stream: Readable, reply: ExchangeReply, read: () => Promise<void>): Promise<void> {
  const leave = () => stream.destroy()
  reply.once('close', leave)
  if (reply.destroyed) leave()
  try {
    await read()
  } finally {
    reply.off('close', leave)
    stream.destroy()
  }
}
