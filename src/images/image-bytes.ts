import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { GatewayError } from '../canonical/error.ts'
import { endAnswer, writeTo } from '../http/event-stream.ts'
import { sniff, sniffBytes } from './storage/sniff.ts'
import type { ImageStorage, StoredImage } from './storage/storage.ts'

/** Throws `unknown_path` for an image that is no more kept; any other error is the storage's, which may be back soon. */
export async function openImage(storage: ImageStorage, file: string): Promise<StoredImage> {
  const stored = await storage.open(file)
  if (stored !== undefined) {
    // What breaks while nobody reads is told to who reads next, and must not end the process.
    stored.stream.on('error', () => {})
    return stored
  }
  throw new GatewayError('unknown_path', 'This image is no longer kept here. Ask for it to be made again.')
}

/** The image as base64, piece by piece: it is never held whole. Rejects when it ends early, as when the client left. */
export async function writeBase64(
  { stream }: StoredImage,
  write: (text: string) => Promise<void>,
  response: ServerResponse,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  await reading(stream, response, async () => {
    for await (const chunk of stream) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      // Three bytes are four characters: what is left over waits for more.
      const whole = bytes.length - (bytes.length % 3)
      await write(bytes.toString('base64', 0, whole))
      rest = bytes.subarray(whole)
    }
  })
  if (rest.length > 0) await write(rest.toString('base64'))
}

/** An image as the answer to a request for it. A client that takes nothing for `stallMs` is cut off. */
export async function sendFile(
  storage: ImageStorage,
  file: string,
  response: ServerResponse,
  stallMs: number,
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
    // Whoever has the link may keep the bytes: they never change.
    'cache-control': 'private, max-age=31536000, immutable',
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
    // The client left, or the storage broke behind the headers: the connection is cut, which says so.
    () => response.destroy(),
  )
}

/** A storage that is slow holds nothing for a client that is gone. */
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
