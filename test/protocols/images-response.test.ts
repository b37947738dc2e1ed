import { createServer } from 'node:http'
import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ImagePiece } from '../../src/protocols/image-protocol.ts'
import { imageClient } from '../../src/protocols/index.ts'
import { errorOfKind } from '../support/error-of-kind.ts'

const settings = {
  created: 1_790_000_000,
  size: '1024x1024',
  quality: 'low',
  background: 'opaque',
  outputFormat: 'png',
  usage: { inputTokens: 12, outputTokens: 272 },
}
const usage = {
  input_tokens: 12,
  input_tokens_details: { text_tokens: 12, image_tokens: 0 },
  output_tokens: 272,
  total_tokens: 284,
}
const known = { size: '1024x1024', quality: 'low', background: 'opaque', output_format: 'png' }

/** The text that a client reads. The number of each image, in base64, stands for its bytes. */
function filled(pieces: readonly ImagePiece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : base64(piece.image))).join('')
}

function base64(image: number): string {
  return Buffer.from(`image ${image}`).toString('base64')
}

describe('a whole answer', () => {
  test('has the bytes of each image in its place, and all known settings', () => {
    const images = [{ revisedPrompt: 'a "small" cat\n' }, {}]
    const pieces = imageClient.answerPieces({ ...settings, images })
    expect(pieces.map((piece) => typeof piece)).toEqual(['string', 'object', 'string', 'object', 'string'])
    expect(JSON.parse(filled(pieces))).toEqual({
      created: 1_790_000_000,
      data: [{ b64_json: base64(0), revised_prompt: 'a "small" cat\n' }, { b64_json: base64(1) }],
      ...known,
      usage,
    })
  })

  test('has links if the client wants them, and no unknown settings', () => {
    const images = [{ url: 'https://example.com/"a"?b=c&d' }, { url: 'https://example.com/b' }]
    const pieces = imageClient.answerPieces({ created: 5, images })
    expect(pieces).toHaveLength(1)
    expect(JSON.parse(filled(pieces))).toEqual({ created: 5, data: images })
    expect(JSON.parse(filled(imageClient.answerPieces({ created: 5, images: [] })))).toEqual({
      created: 5,
      data: [],
    })
  })
})

describe("the vendor's SDK", () => {
  let reply = { type: '', status: 200, body: '' }
  const server = createServer((_, response) => {
    response.writeHead(reply.status, { 'content-type': reply.type }).end(reply.body)
  })
  let client: OpenAI

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${address.port}/v1`, maxRetries: 0 })
  })
  afterAll(() => void server.close())

  const streamed = async (body: string) => {
    reply = { type: 'text/event-stream', status: 200, body }
    const events: unknown[] = []
    const stream = await client.images.generate({ model: 'm', prompt: 'p', stream: true })
    for await (const event of stream) events.push(event)
    return events
  }

  test('reads an answer', async () => {
    const body = filled(imageClient.answerPieces({ ...settings, images: [{}] }))
    reply = { type: 'application/json', status: 200, body }
    const answer = await client.images.generate({ model: 'm', prompt: 'p' })
    expect(answer).toMatchObject({ data: [{ b64_json: base64(0) }], ...known, usage })
  })

  test('reads previews and images of a stream, which has no end marker', async () => {
    const partial = imageClient.partialEventPieces({ ...settings, index: 1 })
    const completed = imageClient.completedEventPieces({ revisedPrompt: 'x\n\ny' }, settings)
    expect(await streamed(filled([...partial, ...completed]))).toEqual([
      {
        type: 'image_generation.partial_image',
        b64_json: base64(0),
        created_at: 1_790_000_000,
        ...known,
        partial_image_index: 1,
      },
      {
        type: 'image_generation.completed',
        b64_json: base64(0),
        revised_prompt: 'x\n\ny',
        created_at: 1_790_000_000,
        ...known,
        usage,
      },
    ])
  })

  test('gets unknown settings as auto', async () => {
    const pieces = imageClient.completedEventPieces({ url: 'https://example.com/a' }, { created: 7 })
    expect(await streamed(filled(pieces))).toEqual([
      {
        type: 'image_generation.completed',
        url: 'https://example.com/a',
        created_at: 7,
        size: 'auto',
        quality: 'auto',
        background: 'auto',
      },
    ])
  })

  test('raises an error that comes within a stream', async () => {
    const error = errorOfKind('content_filtered', 'Not this.', { code: 'moderation_blocked' })
    const text = imageClient.encodeStreamError(error, 'request-1').toString()
    const raised = await streamed(text).catch((cause: unknown) => cause)
    expect(raised).toBeInstanceOf(APIError)
    expect(raised).toMatchObject({
      code: 'moderation_blocked',
      message: expect.stringContaining('Not this.'),
    })
  })

  test('raises a refusal of the request with its field', async () => {
    const error = errorOfKind('invalid_request', 'n: expected 1', { field: 'n' })
    const { status, body } = imageClient.encodeError(error, 'request-1')
    reply = { type: 'application/json', status, body: JSON.stringify(body) }
    const raised = await client.images.generate({ model: 'm', prompt: 'p' }).catch((cause: unknown) => cause)
    expect(raised).toBeInstanceOf(OpenAI.BadRequestError)
    expect(raised).toMatchObject({ param: 'n' })
  })
})
