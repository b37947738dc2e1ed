import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { Base64Extractor, type ExtractorStep, imageSource } from '../../src/protocols/base64-extractor.ts'
import { Random, seeded } from '../support/random.ts'

const thresholdBytes = 64

/** The result of all steps: the text, with a name for each placeholder, and the images. */
function extract(chunks: readonly Buffer[], extractor = new Base64Extractor(thresholdBytes)) {
  const text: Buffer[] = []
  const images: Buffer[] = []
  let open: { index: number; parts: Buffer[] } | undefined
  const take = (step: ExtractorStep) => {
    switch (step.type) {
      case 'text':
        // No text comes while the sink of an image is open.
        expect(open).toBeUndefined()
        text.push(Buffer.from(step.bytes))
        break
      case 'begin':
        expect(step.index).toBe(images.length)
        open = { index: step.index, parts: [] }
        break
      case 'data':
        expect(step.index).toBe(open?.index)
        expect(step.bytes.length).toBeGreaterThan(0)
        open?.parts.push(Buffer.from(step.bytes))
        break
      case 'end':
        expect(step.index).toBe(open?.index)
        images.push(Buffer.concat(open?.parts ?? []))
        open = undefined
        break
    }
  }
  for (const chunk of chunks) extractor.push(chunk).forEach(take)
  extractor.end().forEach(take)
  const written = Buffer.concat(text).toString('utf8')
  const named = written.replace(/tollgate_image_\w+/g, (value) => `<${extractor.indexOf(value)}>`)
  return { text: named, images }
}

function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.upTo(255)))
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

const image = bytes(new Random(1), 300)

describe('one string', () => {
  test.each([
    ['padded base64', image.toString('base64')],
    ['base64 without padding', bytes(new Random(1), 301).toString('base64').replaceAll('=', '')],
    ['one padding character', bytes(new Random(1), 302).toString('base64')],
    ['base64url', bytes(new Random(1), 301).toString('base64url')],
    ['escaped slashes', image.toString('base64').replaceAll('/', '\\/')],
    ['escapes by number', image.toString('base64').replaceAll('+', '\\u002b').replaceAll('/', '\\u002F')],
    ['an escaped padding', bytes(new Random(1), 301).toString('base64').replaceAll('=', '\\u003d')],
    ['every character escaped', image.toString('base64').replace(/./g, escaped)],
    ['a data URL', `data:image/png;base64,${image.toString('base64')}`],
    ['a data URL with an escaped slash', `data:image\\/webp;base64,${image.toString('base64')}`],
    ['a data URL with parameters', `data:image/png;name=a.png;base64,${image.toString('base64')}`],
  ])('%s is extracted, wherever the bytes are cut', (_, written) => {
    const answer = Buffer.from(`{"a":"b","image":"${written}","c":[1,"d"]}`)
    const whole = extract([answer])
    expect(whole.text).toBe('{"a":"b","image":"<0>","c":[1,"d"]}')
    const [made] = whole.images
    expect(made?.subarray(0, image.length)).toEqual(image)
    expect(Buffer.from(JSON.parse(`"${written}"`).replace(/^data:[^,]*,/, ''), 'base64')).toEqual(made)
    for (let at = 1; at < answer.length; at++) {
      expect(extract([answer.subarray(0, at), answer.subarray(at)])).toEqual(whole)
    }
    expect(extract([...answer].map((byte) => Buffer.from([byte])))).toEqual(whole)
  })

  test.each([
    ['a short string', 'A'.repeat(thresholdBytes - 1)],
    ['a long prompt', 'a cat in a hat, '.repeat(40)],
    ['a long text that begins with words alone', `${'Cat'.repeat(15)} ${'A'.repeat(200)}`],
    ['JSON in a string', '{\\"a\\":\\"b\\\\\\"c\\"}'.repeat(20)],
    ['backslashes at the end', `${'x y'.repeat(40)}\\\\`],
    ['a long link', `https://example.com/${'a'.repeat(200)}`],
    ['text that is not ASCII', 'Ж漢😀'.repeat(40)],
    ['a data URL that is not base64', `data:image/svg+xml,${'%3Csvg'.repeat(30)}`],
  ])('%s stays in the text, wherever the bytes are cut', (_, written) => {
    const answer = Buffer.from(`{"a":"${written}","image":"${image.toString('base64')}"}`)
    const expected = { text: `{"a":"${written}","image":"<0>"}`, images: [image] }
    for (let at = 1; at < answer.length; at++) {
      expect(extract([answer.subarray(0, at), answer.subarray(at)])).toEqual(expected)
    }
  })

  test.each([
    ['a space', 'AAAA AAA'],
    ['a line break', 'AAAA\\nAAA'],
    ['a raw line break', 'AAAA\nAAA'],
    ['another alphabet', 'AAAA!AAA'],
    ['a character of more than one byte', 'AAAAÄAAA'],
    ['a character that ends in the byte of a letter', 'AAAA\\u0141AA'],
    ['padding in the middle', 'AAA=AAAA'],
    ['too much padding', 'AAAA===='],
    ['an escaped quote', 'AAAA\\"AAA'],
    ['an escaped backslash', 'AAAA\\\\\\/AAA'],
    ['one character too many', 'AAAAAAAAA'],
    ['half an escape', 'AAAA\\u00'],
  ])('base64 that continues with %s is refused, wherever the bytes are cut', (_, rest) => {
    const answer = Buffer.from(`{"image":"${'A'.repeat(thresholdBytes)}${rest}","b":1}`)
    for (let at = 1; at <= answer.length; at++) {
      const error = failure(() => extract([answer.subarray(0, at), answer.subarray(at)]))
      expect(error.kind).toBe('upstream_error')
    }
  })

  test('an answer that ends within an image is refused; one that ends within a text is not', () => {
    const start = `{"image":"${image.toString('base64')}`
    expect(failure(() => extract([Buffer.from(start)])).reason).toBe('upstream_ended_early')
    expect(extract([Buffer.from('{"a":"AAA')])).toEqual({ text: '{"a":"AAA', images: [] })
  })
})

test('a quote in a comment of an event stream does not hide the images after it', () => {
  const event = `data: {"image":"${image.toString('base64')}"}\n\n`
  for (const end of ['\n', '\r\n', '\r', '\\\n']) {
    expect(extract([Buffer.from(`: 5" of rain${end}${event}`)])).toEqual({
      text: `: 5" of rain${end}data: {"image":"<0>"}\n\n`,
      images: [image],
    })
  }
})

test('random answers give the same text and the same images in any split', () => {
  const random = seeded(300)
  for (let round = 0; round < 300; round++) {
    const expected = { text: '', images: [] as Buffer[] }
    let written = ''
    for (let item = random.upTo(8); item >= 0; item--) {
      const isImage = random.next() < 0.5
      const made = bytes(random, 48 + random.upTo(200))
      const encoding = random.pick(['base64', 'base64url'] as const)
      const head = random.pick(['', '', 'data:image/png;base64,', 'data:image\\/png;base64,'])
      const kept = random.pick(['short', 'a b '.repeat(50), 'q\\"\\\\', '', '\\u0041', 'é'.repeat(90)])
      written += `data: {"k\\"${item}": "${isImage ? head + escapeSome(random, made.toString(encoding)) : kept}"}\n\n`
      expected.text += `data: {"k\\"${item}": "${isImage ? `<${expected.images.length}>` : kept}"}\n\n`
      if (isImage) expected.images.push(made)
    }
    const answer = Buffer.from(written)
    expect(extract([answer]), `round ${round}`).toEqual(expected)
    expect(extract(random.split(answer, random.pick([1, 3, 20, 200]))), `round ${round}`).toEqual(expected)
  }
})

test('the extractor holds no more than the threshold of an image of 8 MB, and of a text of 8 MB', () => {
  const size = 8 * 1024 * 1024
  const random = seeded(3)
  const block = bytes(random, 3 * 1024)
  const sent = createHash('sha256')
  const got = createHash('sha256')
  const extractor = new Base64Extractor()
  let held = 0
  let text = 0
  let largest = 0
  const push = (piece: string) => {
    for (const step of extractor.push(Buffer.from(piece))) {
      if (step.type === 'text') text += step.bytes.length
      if (step.type !== 'data') continue
      got.update(step.bytes)
      largest = Math.max(largest, step.bytes.length)
    }
    held = Math.max(held, extractor.heldBytes)
  }
  push('{"data":[{"b64_json":"')
  for (let at = 0; at < size; at += block.length) {
    sent.update(block)
    push(block.toString('base64'))
  }
  push('"}],"text":"')
  expect(held).toBeLessThanOrEqual(8192 + 16)
  expect(got.digest('hex')).toBe(sent.digest('hex'))
  expect(text).toBeLessThan(200)
  expect(largest).toBeLessThanOrEqual(8192 + 4096)
  for (let at = 0; at < size; at += 4096) push('a cat, '.repeat(585))
  expect(held).toBeLessThanOrEqual(8192 + 16)
})

test('bytes after the padding are refused at once, not at the end of the string', () => {
  const extractor = new Base64Extractor(thresholdBytes)
  extractor.push(Buffer.from(`{"image":"${'A'.repeat(thresholdBytes)}AA=`))
  expect(extractor.heldBytes).toBe(3)
  expect(failure(() => extractor.push(Buffer.from('A'.repeat(100)))).kind).toBe('upstream_error')
})

test('a client or an upstream cannot forge a placeholder', () => {
  const answer = Buffer.from(`{"image":"${image.toString('base64')}"}`)
  const own = new Base64Extractor(thresholdBytes)
  const mine = imageIn(own.push(answer))
  const theirs = imageIn(new Base64Extractor(thresholdBytes).push(answer))
  expect(own.indexOf(mine)).toBe(0)
  expect(own.indexOf(theirs)).toBeUndefined()
  for (const made of ['1', '-1', '00x', '', ' ']) {
    expect(own.indexOf(mine.replace(/0$/, made)), made).toBeUndefined()
  }
  // Base64 that is too short for the extractor stays as it is.
  const small = imageIn(new Base64Extractor().push(answer))
  expect(small).toBe(image.toString('base64'))
  expect(own.indexOf(small)).toBeUndefined()
})

function imageIn(steps: readonly ExtractorStep[]): string {
  const text = steps.map((step) => (step.type === 'text' ? step.bytes.toString() : '')).join('')
  return String(JSON.parse(text).image)
}

test('an image is base64, a data URL or a link, and nothing else', () => {
  expect(imageSource('iVBORw0KGgo=')).toEqual({ kind: 'base64', data: 'iVBORw0KGgo=' })
  expect(imageSource('data:image/png;base64,iVBORw0KGgo=')).toEqual({ kind: 'base64', data: 'iVBORw0KGgo=' })
  expect(imageSource('https://example.com/a.png')).toEqual({ kind: 'url', url: 'https://example.com/a.png' })
  for (const value of [
    'file:///etc/passwd',
    'data:image/svg+xml,%3Csvg',
    'AAAA AAAA',
    '',
    'ftp://a/b',
    'AA=A',
  ]) {
    expect(failure(() => imageSource(value)).kind, value).toBe('upstream_error')
  }
})

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function escapeSome(random: Random, base64: string): string {
  return base64.replace(/./g, (character) =>
    random.next() > 0.1 ? character : character === '/' ? '\\/' : escaped(character),
  )
}
