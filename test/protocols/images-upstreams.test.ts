import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import type { Reason } from '../../src/canonical/reasons/catalogue.ts'
import type { ImageContext, ImageSide } from '../../src/protocols/image-protocol.ts'
import { imageClient, imageSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

const images = sideOf('openai-images')
const responses = sideOf('openai-responses')
const chat = sideOf('openai-chat')
const bounds = { jsonDepthMax: 16, jsonValuesMax: 200 }
const least = { model: 'public', prompt: 'a cat' }

function sideOf(name: ProtocolName): ImageSide {
  const side = imageSide(name)
  if (side === undefined) throw new Error(`no images in ${name}`)
  return side
}

function encode(side: ImageSide, members: Json, context: Partial<ImageContext> = {}) {
  const request = imageClient.readRequest(Buffer.from(JSON.stringify({ ...least, ...members })), bounds)
  return side.encodeRequest(request, { upstreamModel: 'up', count: 1, stream: false, ...context })
}

function failure(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test('formats without images have no image side', () => {
  expect(imageSide('anthropic-messages')).toBeUndefined()
  expect(imageSide('gemini')).toBeUndefined()
  expect([images, responses, chat].map(({ imagesPerCall }) => imagesPerCall)).toEqual([undefined, 1, 1])
})

describe('to openai-images', () => {
  test("the client's own members are sent, known or not, and no others", () => {
    const members = { size: 'auto', response_format: 'url', seed: 7, nested: { a: [1] }, user: 'u' }
    expect(encode(images, members)).toEqual({ body: { ...least, ...members, model: 'up' }, notes: [] })
    expect(encode(images, {})).toEqual({ body: { prompt: 'a cat', model: 'up' }, notes: [] })
  })

  test('n is the number of images of this call', () => {
    expect(encode(images, { n: 4 }, { count: 2 }).body.n).toBe(2)
    expect(encode(images, { n: 1 }, { count: 1 }).body.n).toBe(1)
    expect(encode(images, { n: null }, { count: 1 }).body).not.toHaveProperty('n')
  })

  test('a stream is asked for if the client wants one; else lost previews are reported', () => {
    const members = { stream: true, partial_images: 2 }
    expect(encode(images, members, { stream: true })).toEqual({
      body: { prompt: 'a cat', model: 'up', stream: true, partial_images: 2 },
      notes: [],
    })
    const whole = encode(images, members)
    expect(whole.body).toEqual({ prompt: 'a cat', model: 'up' })
    expect(whole.notes).toMatchObject([{ path: 'partial_images', action: 'dropped' }])
  })
})

test('to openai-responses: the hosted tool is forced, with its settings', () => {
  const members = {
    size: '1024x1536',
    quality: 'high',
    background: 'transparent',
    output_format: 'webp',
    output_compression: 50,
    moderation: 'low',
    stream: true,
    partial_images: 2,
    complexity: 'low',
    user: 'u',
    safety_identifier: 's',
  }
  expect(encode(responses, members, { stream: true })).toEqual({
    body: {
      model: 'up',
      input: 'a cat',
      tools: [
        {
          type: 'image_generation',
          size: '1024x1536',
          quality: 'high',
          background: 'transparent',
          output_format: 'webp',
          output_compression: 50,
          moderation: 'low',
          partial_images: 2,
          complexity: 'low',
        },
      ],
      tool_choice: { type: 'image_generation' },
      store: false,
      stream: true,
      user: 'u',
      safety_identifier: 's',
    },
    notes: [],
  })
})

test('to openai-chat: one user message, and both modalities', () => {
  expect(encode(chat, { user: 'u', safety_identifier: 's' }, { stream: true })).toEqual({
    body: {
      model: 'up',
      messages: [{ role: 'user', content: 'a cat' }],
      modalities: ['image', 'text'],
      user: 'u',
      safety_identifier: 's',
    },
    notes: [],
  })
  expect(chat.decodeStream).toBeUndefined()
})

/** Every documented member and an unknown one, with its fate in Responses and in Chat Completions. */
const table: [string, unknown, Fate, Fate][] = [
  ['prompt', 'another', 'said', 'said'],
  ['n', 1, 'as by default', 'as by default'],
  ['n', 2, 'emulated', 'emulated'],
  ['size', 'auto', 'said', 'mapped'],
  ['size', '1024x1024', 'said', 'refused'],
  ['quality', 'auto', 'said', 'mapped'],
  ['quality', 'high', 'said', 'dropped'],
  ['quality', 'standard', 'dropped', 'dropped'],
  ['quality', 'hd', 'dropped', 'dropped'],
  ['style', 'vivid', 'dropped', 'dropped'],
  ['background', 'auto', 'said', 'mapped'],
  ['background', 'opaque', 'said', 'mapped'],
  ['background', 'transparent', 'said', 'refused'],
  ['output_format', 'png', 'said', 'refused'],
  ['output_compression', 50, 'said', 'dropped'],
  ['moderation', 'low', 'said', 'dropped'],
  ['response_format', 'url', 'emulated', 'emulated'],
  ['response_format', 'b64_json', 'emulated', 'emulated'],
  ['user', 'u', 'said', 'said'],
  ['safety_identifier', 's', 'said', 'said'],
  ['stream', false, 'as by default', 'as by default'],
  ['stream', true, 'emulated', 'emulated'],
  ['complexity', 'low', 'said', 'dropped'],
  ['frame_count', 4, 'said', 'dropped'],
  ['frame_duration_ms', 100, 'said', 'dropped'],
  ['svg', { model: 'x' }, 'said', 'dropped'],
  ['watermark', true, 'dropped', 'dropped'],
  ['constructor', 'x', 'dropped', 'dropped'],
]

type Fate = 'said' | 'as by default' | 'mapped' | 'emulated' | 'dropped' | 'refused'

describe('no member vanishes', () => {
  const fateOf = (side: ImageSide, name: string, value: unknown): string => {
    let encoded: ReturnType<typeof encode>
    try {
      encoded = encode(side, { [name]: value })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      expect(error).toMatchObject({ kind: 'unsupported_parameter', field: name })
      return 'refused'
    }
    const [note, ...others] = encoded.notes
    expect(others).toEqual([])
    if (note !== undefined) {
      expect(note.path).toBe(name)
      expect(encoded.body).toEqual(encode(side, {}).body)
      return note.action
    }
    return isDeepStrictEqual(encoded.body, encode(side, {}).body) ? 'as by default' : 'said'
  }

  test.each(table)('%s: %j', (name, value, inResponses, inChat) => {
    expect(fateOf(responses, name, value)).toBe(inResponses)
    expect(fateOf(chat, name, value)).toBe(inChat)
    const count = name === 'n' ? Number(value) : 1
    if (name === 'stream') return
    expect(encode(images, { [name]: value }, { count }).body).toMatchObject({ [name]: value })
  })

  test('previews are asked for in a stream, and reported as lost otherwise', () => {
    const members = { stream: true, partial_images: 1 }
    expect(encode(responses, members, { stream: true }).notes).toEqual([])
    const lost = { path: 'partial_images', action: 'dropped' }
    const made = { path: 'stream', action: 'emulated' }
    expect(encode(responses, members).notes).toMatchObject([made, lost])
    expect(encode(chat, members, { stream: true }).notes).toMatchObject([made, lost])
  })
})

describe('whole answers', () => {
  const none = {
    usage: undefined,
    size: undefined,
    quality: undefined,
    background: undefined,
    outputFormat: undefined,
    servedModel: undefined,
  }

  test("OpenAI's recorded answer has its images and revised prompts", () => {
    const path = new URL('../fixtures/openai-images/openai-image.json', import.meta.url)
    const recorded: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isRecord(recorded) || !Array.isArray(recorded.data)) throw new Error('not the recording')
    const answer = images.decodeAnswer(recorded)
    expect(answer).toMatchObject(none)
    expect(answer.images).toHaveLength(2)
    expect(answer.images[0]?.source).toEqual({ kind: 'base64', data: recorded.data[0].b64_json })
    expect(answer.images.map(({ revisedPrompt }) => revisedPrompt?.slice(0, 17))).toEqual([
      'A small and adora',
      undefined,
    ])
  })

  test('an answer with settings, links and usage', () => {
    expect(
      images.decodeAnswer({
        created: 1,
        data: [{ url: 'https://example.com/a.png' }, { url: 'data:image/png;base64,QUJD' }],
        background: 'opaque',
        output_format: 'webp',
        quality: 'low',
        size: '1024x1024',
        usage: { input_tokens: 12, output_tokens: 272, input_tokens_details: { text_tokens: 12 } },
      }),
    ).toEqual({
      images: [
        { source: { kind: 'url', url: 'https://example.com/a.png' }, revisedPrompt: undefined },
        { source: { kind: 'base64', data: 'QUJD' }, revisedPrompt: undefined },
      ],
      usage: { input: 12, cacheRead: 0, cacheWrite: 0, output: 272, reasoning: 0 },
      size: '1024x1024',
      quality: 'low',
      background: 'opaque',
      outputFormat: 'webp',
      servedModel: undefined,
    })
  })

  test('a response has the images of its calls, and the tokens of both models', () => {
    const call = {
      type: 'image_generation_call',
      status: 'completed',
      result: 'QUJD',
      revised_prompt: 'a small cat',
      size: '1024x1024',
      quality: 'low',
      background: 'opaque',
      output_format: 'png',
    }
    expect(
      responses.decodeAnswer({
        model: 'gpt-5.6',
        error: null,
        output: [{ type: 'reasoning', summary: [] }, call, { type: 'message', content: [{ text: 'Here.' }] }],
        usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 40 }, output_tokens: 20 },
        tool_usage: { image_gen: { input_tokens: 10, cached_tokens: 4, output_tokens: 272 } },
      }),
    ).toEqual({
      images: [{ source: { kind: 'base64', data: 'QUJD' }, revisedPrompt: 'a small cat' }],
      usage: { input: 66, cacheRead: 44, cacheWrite: 0, output: 292, reasoning: 0 },
      size: '1024x1024',
      quality: 'low',
      background: 'opaque',
      outputFormat: 'png',
      servedModel: 'gpt-5.6',
    })
  })

  test('a chat answer has images beside its text, or within it', () => {
    const data = { kind: 'base64', data: 'QUJD' }
    const link = { kind: 'url', url: 'https://example.com/a.png' }
    const parts = [
      { type: 'text', text: 'Here.' },
      { type: 'image_url', image_url: link.url },
    ]
    const answer = (message: Json) =>
      chat.decodeAnswer({
        model: 'banana',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 5, completion_tokens: 1290, total_tokens: 1295 },
      })
    expect(
      answer({
        content: 'Here.',
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }],
      }),
    ).toEqual({
      ...none,
      images: [{ source: data, revisedPrompt: undefined }],
      usage: { input: 5, cacheRead: 0, cacheWrite: 0, output: 1290, reasoning: 0 },
      servedModel: 'banana',
    })
    expect(answer({ content: parts }).images).toEqual([{ source: link, revisedPrompt: undefined }])
  })

  const words = 'I cannot draw that.'
  const message = (content: unknown, finish = 'stop') => ({
    choices: [{ index: 0, message: { content }, finish_reason: finish }],
  })
  const call = { type: 'image_generation_call', result: null, status: 'failed' }
  const failed = { type: 'image_generation_user_error', code: 'moderation_blocked', message: words }
  test.each<[string, ImageSide, Json, Reason, string]>([
    ['nothing', images, {}, 'upstream_image_missing', 'without an image'],
    ['no images', images, { data: [] }, 'upstream_image_missing', 'without an image'],
    [
      'images without bytes',
      images,
      { data: [{ b64_json: null }] },
      'upstream_image_missing',
      'without an image',
    ],
    [
      'images held back',
      images,
      { data: [{ url: '', respect_moderation: false }] },
      'image_moderated',
      'Change the prompt',
    ],
    ['an error', images, { error: failed }, 'upstream_content_filtered', words],
    [
      'what is not an image',
      images,
      { data: [{ b64_json: '<html>' }] },
      'upstream_image_unreadable',
      'neither base64',
    ],
    ['nothing', responses, {}, 'upstream_image_missing', 'without an image'],
    [
      'a text',
      responses,
      { output: [{ type: 'message', content: [{ type: 'output_text', text: words }] }] },
      'image_declined',
      words,
    ],
    [
      'a refusal',
      responses,
      { output: [{ type: 'message', content: [{ type: 'refusal', refusal: words }] }] },
      'image_declined',
      words,
    ],
    [
      'a call that failed',
      responses,
      { output: [{ ...call, error: failed }] },
      'upstream_content_filtered',
      words,
    ],
    [
      'an error',
      responses,
      { error: { code: 'image_content_policy_violation', message: words } },
      'upstream_content_filtered',
      words,
    ],
    [
      'an error of its own',
      responses,
      { error: { code: 'server_error', message: 'oops' } },
      'upstream_failed',
      'oops',
    ],
    [
      'half an answer',
      responses,
      { output: [], incomplete_details: { reason: 'content_filter' } },
      'image_moderated',
      'Change the prompt',
    ],
    ['nothing', chat, {}, 'upstream_image_missing', 'without an image'],
    ['a text', chat, message(words), 'image_declined', words],
    ['a text in parts', chat, message([{ type: 'text', text: words }]), 'image_declined', words],
    ['a filter', chat, message(null, 'content_filter'), 'image_moderated', 'Change the prompt'],
    ['an error', chat, { error: { code: 429, message: 'slow down' } }, 'upstream_rate_limited', 'slow down'],
    [
      'an error in the choice',
      chat,
      { choices: [{ index: 0, error: { code: 503, message: 'busy' } }] },
      'upstream_overloaded',
      'busy',
    ],
  ])('%s is no answer of %o', (_, side, body, reason, part) => {
    const error = failure(() => side.decodeAnswer(body))
    expect(error.reason).toBe(reason)
    expect(error.message).toContain(part)
  })

  test('only the beginning of a long refusal is quoted', () => {
    const error = failure(() => chat.decodeAnswer(message('no '.repeat(2000))))
    expect(error.message.length).toBeLessThan(400)
  })
})

describe('refusals', () => {
  test.each([
    ['content_policy_violation', 400],
    ['moderation_blocked', 400],
    ['contentFilter', 400],
    ['content_safety_violation', 422],
  ])('%s is a moderation error, and the client gets its words', (code, status) => {
    const body = Buffer.from(JSON.stringify({ error: { message: 'Rejected.', type: 'user_error', code } }))
    for (const side of [images, responses, chat]) {
      expect(side.decodeError(status, {}, body)).toMatchObject({
        kind: 'content_filtered',
        message: 'Rejected.',
        fault: 'client',
        upstreamStatus: status,
        code,
      })
    }
  })

  test('other refusals are the same as for text', () => {
    const body = (error: Json) => Buffer.from(JSON.stringify({ error }))
    const bad = body({ message: 'Bad size.', type: 'image_generation_user_error', param: 'size', code: null })
    expect(images.decodeError(400, {}, bad)).toMatchObject({ kind: 'invalid_request', field: 'size' })
    expect(images.decodeError(401, {}, body({ message: 'key', code: 'x' })).kind).toBe('upstream_error')
    expect(images.decodeError(429, { 'retry-after': '7' }, body({ message: 'slow' }))).toMatchObject({
      kind: 'rate_limited',
      retryAfterSeconds: 7,
    })
    expect(images.decodeError(500, {}, Buffer.from('<html>')).kind).toBe('upstream_error')
  })
})
