import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { ImageTraits } from '../../src/canonical/image.ts'
import { imageClient } from '../../src/protocols/index.ts'

const bounds = { jsonDepthMax: 16, jsonValuesMax: 200 }
const least = { model: 'm', prompt: 'a cat' }

function read(body: unknown) {
  return imageClient.readRequest(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), bounds)
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

test('a request with only a model and a prompt leaves all other settings undefined', () => {
  expect(read(least)).toEqual({
    model: 'm',
    prompt: 'a cat',
    count: 1,
    size: undefined,
    quality: undefined,
    style: undefined,
    background: undefined,
    outputFormat: undefined,
    outputCompression: undefined,
    moderation: undefined,
    user: undefined,
    safetyIdentifier: undefined,
    delivery: undefined,
    stream: false,
    partialImages: 0,
    body: least,
  })
})

test('every documented member is read, and unknown ones stay in the body', () => {
  const body = {
    ...least,
    n: 3,
    size: '1024x1536',
    quality: 'high',
    style: 'vivid',
    background: 'transparent',
    output_format: 'webp',
    output_compression: 80,
    response_format: 'b64_json',
    moderation: 'low',
    user: 'u',
    safety_identifier: 's',
    stream: true,
    partial_images: 2,
    complexity: 'low',
    watermark: { text: 'x' },
  }
  expect(read(body)).toEqual({
    model: 'm',
    prompt: 'a cat',
    count: 3,
    size: '1024x1536',
    quality: 'high',
    style: 'vivid',
    background: 'transparent',
    outputFormat: 'webp',
    outputCompression: 80,
    moderation: 'low',
    user: 'u',
    safetyIdentifier: 's',
    delivery: 'b64_json',
    stream: true,
    partialImages: 2,
    body,
  })
})

test('null counts as absent, and an empty user as no user', () => {
  const names = ['n', 'size', 'quality', 'style', 'background', 'output_format', 'output_compression']
  const more = ['response_format', 'moderation', 'user', 'safety_identifier', 'stream', 'partial_images']
  const body = { ...least, ...Object.fromEntries([...names, ...more].map((name) => [name, null])) }
  expect(read(body)).toEqual({ ...read(least), body })
  expect(read({ ...least, user: '', safety_identifier: '' })).toMatchObject({
    user: undefined,
    safetyIdentifier: undefined,
  })
})

describe('a member of a wrong type, range or word is refused by its name, with what it must be', () => {
  test.each([
    ['model', undefined, 'required'],
    ['model', 7, 'expected a string'],
    ['model', '', 'empty'],
    ['prompt', undefined, 'required'],
    ['prompt', null, 'expected a string, got null'],
    ['prompt', ['a cat'], 'expected a string, got array'],
    ['prompt', '', 'got an empty one'],
    ['prompt', ' \n', 'got an empty one'],
    ['n', 0, 'from 1 to 10, got 0'],
    ['n', 11, 'from 1 to 10, got 11'],
    ['n', 1.5, 'from 1 to 10, got 1.5'],
    ['n', '1', 'expected an integer, got string'],
    ['size', 1024, 'expected a string, got number'],
    ['quality', true, 'expected a string, got boolean'],
    ['style', {}, 'expected a string, got object'],
    ['background', [], 'expected a string, got array'],
    ['output_format', 1, 'expected a string, got number'],
    ['output_compression', 101, 'from 0 to 100, got 101'],
    ['output_compression', -1, 'from 0 to 100, got -1'],
    ['output_compression', '50', 'expected an integer, got string'],
    ['response_format', 'json', 'expected "url" or "b64_json", got "json"'],
    ['response_format', { type: 'url' }, 'expected a string, got object'],
    ['moderation', 'none', 'expected "auto" or "low", got "none"'],
    ['user', 5, 'expected a string, got number'],
    ['safety_identifier', 5, 'expected a string, got number'],
    ['stream', 'true', 'expected a boolean, got string'],
    ['partial_images', 4, 'from 0 to 3, got 4'],
    ['partial_images', -1, 'from 0 to 3, got -1'],
    ['partial_images', 1, 'add "stream": true'],
  ])('%s: %j', (field, value, problem) => {
    const error = failure(() => read({ ...least, [field]: value }))
    expect(error).toMatchObject({ kind: 'invalid_request', field })
    expect(error.message).toContain(`${field}: `)
    expect(error.message).toContain(problem)
  })
})

test('partial_images 0 without a stream asks for no previews', () => {
  expect(read({ ...least, partial_images: 0 }).partialImages).toBe(0)
})

test('broken, repeated, deep and overfull JSON is refused as for every other endpoint', () => {
  expect(failure(() => read('{"model":"m","prompt":"a')).message).toMatch(/^body: not valid JSON/)
  expect(failure(() => read('[]')).message).toBe('body: expected a JSON object, got array')
  expect(failure(() => read('')).message).toMatch(/^body: not valid JSON/)
  expect(failure(() => read('{"model":"m","prompt":"a","n":1,"n":2}')).field).toBe('n')
  expect(failure(() => read(`{"x":${'['.repeat(20)}${']'.repeat(20)}}`)).message).toContain(
    'nested too deeply',
  )
  expect(failure(() => read({ ...least, x: Array(300).fill(0) })).message).toContain('JSON_VALUES_MAX')
  expect(failure(() => imageClient.readRequest(Buffer.from([0x7b, 0xff]), bounds)).message).toContain('UTF-8')
})

test('a long prompt with a character that JSON forbids is refused, and not sent on', () => {
  expect(failure(() => read(`{"model":"m","prompt":"${'a'.repeat(40_000)}\n"}`)).kind).toBe('invalid_request')
})

describe('the values that a model accepts', () => {
  const traits: ImageTraits = {
    sizes: ['1024x1024', '2K'],
    qualities: ['ultra'],
    styles: [],
    backgrounds: ['opaque'],
    outputFormats: ['png', 'jpeg'],
    imagesMax: 2,
    partialImagesMax: 1,
    promptCharactersMax: 10,
  }
  const check = (body: object, of?: ImageTraits) =>
    imageClient.checkTraits(read({ ...least, ...body }), of, 'x')

  test.each([
    ['size', '300x300', 'size: model "x" does not accept "300x300". Use one of 1024x1024, 2K, auto'],
    ['quality', 'high', 'quality: model "x" does not accept "high". Use one of ultra, auto'],
    ['style', 'vivid', 'style: model "x" does not support it: leave it out'],
    [
      'background',
      'transparent',
      'background: model "x" does not accept "transparent". Use one of opaque, auto',
    ],
    ['output_format', 'webp', 'output_format: model "x" does not accept "webp". Use one of png, jpeg'],
    ['n', 3, 'n: model "x" accepts at most 2, got 3'],
    ['prompt', 'a black cat', 'prompt: model "x" accepts at most 10 characters, got 11'],
  ])('%s: %j is refused if the traits list other values', (field, value, message) => {
    const error = failure(() => check({ [field]: value }, traits))
    expect(error).toMatchObject({ kind: 'invalid_request', field, message })
  })

  test('previews are bounded by the model', () => {
    expect(failure(() => check({ stream: true, partial_images: 2 }, traits)).message).toBe(
      'partial_images: model "x" accepts at most 1, got 2',
    )
  })

  test('a value in the traits is accepted even if the format does not have it, and so is auto', () => {
    const body = { n: 2, size: '2K', quality: 'ultra', background: 'opaque', output_format: 'jpeg' }
    expect(() => check(body, traits)).not.toThrow()
    expect(() => check({ size: 'auto', quality: 'auto', background: 'auto' }, traits)).not.toThrow()
    // Ten characters, each of two code units.
    expect(() => check({ prompt: '🐈'.repeat(10) }, traits)).not.toThrow()
  })

  test.each([
    ['size', '3840x2160', '1024'],
    ['size', 'auto', '0x10'],
    ['quality', 'xhigh', 'ultra'],
    ['style', 'natural', 'oil'],
    ['background', 'transparent', 'green'],
    ['output_format', 'svg', 'bmp'],
    ['prompt', 'a'.repeat(32_000), 'a'.repeat(32_001)],
  ])('%s: without traits the values of the format apply', (field, taken, refused) => {
    expect(() => check({ [field]: taken })).not.toThrow()
    expect(failure(() => check({ [field]: refused })).field).toBe(field)
  })

  test('a transparent background in a format without transparency is refused', () => {
    const error = failure(() => check({ background: 'transparent', output_format: 'jpeg' }))
    expect(error).toMatchObject({ kind: 'invalid_request', field: 'background' })
  })

  test('only the beginning of a long value is quoted', () => {
    expect(failure(() => check({ size: 'x'.repeat(5000) })).message.length).toBeLessThan(200)
  })
})
