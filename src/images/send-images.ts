import { EventStream, endAnswer, writeTo } from '../http/event-stream.ts'
import type { ExchangeReply } from '../http/exchange.ts'
import type { JobResult } from '../jobs/job.ts'
import { originFor } from '../pipeline/background/job-webhook.ts'
import type { Received } from '../pipeline/received.ts'
import type { ImagePiece, ImageSettings } from '../protocols/image-protocol.ts'
import { imageClient } from '../protocols/index.ts'
import type { StoredImage } from '../storage/storage.ts'
import { openImage, writeBase64 } from './image-bytes.ts'
import type { ImageGateway } from './image-gateway.ts'
import { linkerFor } from './job-answer.ts'

/** Sends all images of a job in one body. `first` is the result of `openFirst`. */
export async function sendImages(
  gateway: ImageGateway,
  received: Received,
  result: JobResult,
  first: StoredImage | undefined,
): Promise<void> {
  const { reply } = received.exchange
  const content = { ...settingsOf(result), images: imagesOf(gateway, received, result) }
  const { clientStallMs } = gateway.bounds
  reply.writeHead(200, {
    'content-type': 'application/json',
    'x-request-id': received.id,
    ...received.headers,
  })
  await writePieces(
    imageClient.answerPieces(content),
    async (index) => (index === 0 ? first : undefined) ?? (await openNth(gateway, result, index)),
    (text) => writeTo(reply, text, clientStallMs),
    reply,
  ).then(
    () => endAnswer(reply, clientStallMs),
    // After the headers have been sent, closing the connection is the only way to tell the client that the
    // response is incomplete.
    () => reply.destroy(),
  )
  first?.stream.destroy()
}

/**
 * Opens the first image before the headers are sent, so that the client gets an error if it is gone. The
 * other images are opened one at a time, because each open image holds a file or a connection while a slow
 * client reads. Undefined if the response contains links.
 */
export async function openFirst(gateway: ImageGateway, result: JobResult): Promise<StoredImage | undefined> {
  return result.delivery === 'url' ? undefined : await openNth(gateway, result, 0)
}

export function beginEvents(gateway: ImageGateway, { id, exchange, headers }: Received): EventStream {
  return new EventStream(exchange.reply, { 'x-request-id': id, ...headers }, gateway.bounds)
}

/** Sends one preview. If the preview cannot be opened, the stream continues without it. */
export function sendPreview(
  gateway: ImageGateway,
  { exchange }: Received,
  events: EventStream,
  { file, index }: { file: string; index: number },
): Promise<void> {
  return events.send(async (write) => {
    const image = await openImage(gateway.images.storage, file).catch(() => undefined)
    if (image === undefined) return
    const created = Math.floor(Date.now() / 1000)
    await writePieces(
      imageClient.partialEventPieces({ index, created }),
      async () => image,
      write,
      exchange.reply,
    )
  })
}

/** Sends one event per image. The last event contains the usage of all images. */
export async function sendCompleted(
  gateway: ImageGateway,
  received: Received,
  events: EventStream,
  result: JobResult,
): Promise<void> {
  const { usage, ...settings } = settingsOf(result)
  for (const [index, image] of imagesOf(gateway, received, result).entries()) {
    const last = index === result.images.length - 1
    const pieces = imageClient.completedEventPieces(image, last ? { ...settings, usage } : settings)
    await events.send(async (write) => {
      await writePieces(pieces, () => openNth(gateway, result, index), write, received.exchange.reply)
    })
  }
}

function settingsOf({ created, size, quality, background, outputFormat, usage }: JobResult): ImageSettings {
  return { created, size, quality, background, outputFormat, usage }
}

function imagesOf(gateway: ImageGateway, received: Received, { images, delivery }: JobResult) {
  const linkTo = linkerFor(gateway, originFor(received))
  return images.map(({ file, revisedPrompt }) => ({
    url: delivery === 'url' ? linkTo(file) : undefined,
    revisedPrompt,
  }))
}

function openNth({ images }: ImageGateway, result: JobResult, index: number): Promise<StoredImage> {
  return openImage(images.storage, result.images[index]?.file ?? '')
}

async function writePieces(
  pieces: readonly ImagePiece[],
  open: (index: number) => Promise<StoredImage>,
  write: (text: string) => Promise<void>,
  reply: ExchangeReply,
): Promise<void> {
  for (const piece of pieces) {
    if (reply.destroyed) return
    if (typeof piece === 'string') await write(piece)
    else await writeBase64(await open(piece.image), write, reply)
  }
}
