import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import { type CallAnswer, ImageCall } from '../../src/images/image-call.ts'
import type { AttemptRecord } from '../../src/journal/record.ts'
import { imageSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { fileStorage } from '../../src/storage/files.ts'
import type { UpstreamCall } from '../../src/upstream/upstreams.ts'
import { png } from '../support/image-upstream.ts'

/** Upstreams whose content type does not say how their images come. The first bytes do. */

const image = png('drawn').toString('base64')
const usage = { input_tokens: 10, output_tokens: 100, total_tokens: 110 }
const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
const kinds = {
  events: `${event('image_generation.partial_image', { b64_json: image, partial_image_index: 0 })}${event('image_generation.completed', { b64_json: image, usage })}`,
  'events after a comment': `: hello\n\n${event('image_generation.completed', { b64_json: image, usage })}`,
  'events after a mark': `\uFEFF\n${event('image_generation.completed', { b64_json: image, usage })}`,
  json: JSON.stringify({ created: 1, data: [{ b64_json: image }], usage }),
  'json after blanks': `\n  ${JSON.stringify({ created: 1, data: [{ b64_json: image }], usage })}`,
  'json after a mark': `\uFEFF${JSON.stringify({ created: 1, data: [{ b64_json: image }], usage })}`,
}
const labels = [
  'text/event-stream',
  'Text/Event-Stream; charset=utf-8',
  'application/json',
  'text/plain',
  undefined,
]
const splits = { whole: Number.POSITIVE_INFINITY, 'byte by byte': 1, 'in threes': 3 }

async function called(protocol: ProtocolName, label: string | undefined, bytes: Buffer, size: number) {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-images-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const side = imageSide(protocol)
  if (side === undefined) throw new Error(`${protocol} has no images`)
  const result = Promise.withResolvers<{ ok: true; value: CallAnswer } | { ok: false; error: GatewayError }>()
  const call = new ImageCall({
    side,
    attempt: {} as AttemptRecord,
    secrets: [],
    storage: fileStorage({ directory }),
    imageBytesMax: 1_000_000,
    answerBytesMax: 10_000_000,
    previewsMax: 3,
    onPartial: async () => {},
    done: result.resolve,
  })
  const upstream = {
    pause() {},
    resume() {},
    abort: (error: GatewayError) => call.fail(error),
  } as unknown as UpstreamCall
  call.start(upstream, 200, label === undefined ? {} : { 'content-type': label })
  for (let at = 0; at < bytes.length; at += size) call.data(upstream, bytes.subarray(at, at + size))
  call.end()
  return await result.promise
}

test.each(
  Object.keys(kinds).flatMap((kind) =>
    labels.flatMap((label) => Object.keys(splits).map((split) => [kind, label, split] as const)),
  ),
)('%s under the label %s, %s', async (kind, label, split) => {
  const bytes = Buffer.from(kinds[kind as keyof typeof kinds])
  const result = await called('openai-images', label, bytes, splits[split as keyof typeof splits])
  if (!result.ok) throw result.error
  expect(result).toMatchObject({ ok: true, value: { error: undefined } })
  if (result.ok) expect(result.value.images).toHaveLength(1)
})

test.each(labels)(
  'a stream in a format without one is refused in words, under the label %s',
  async (label) => {
    const result = await called('openai-chat', label, Buffer.from(kinds.events), 1)
    expect(result).toMatchObject({
      ok: false,
      error: { reason: 'upstream_streams_unasked' },
    })
  },
)

test.each([['text/event-stream'], ['application/json']])('an empty answer ends, under %s', async (label) => {
  for (const bytes of ['', '\n', 'da'])
    expect(await called('openai-images', label, Buffer.from(bytes), 1)).toMatchObject({ ok: false })
})
