import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { checkText, type ScanOptions, scanElements, scanMembers } from '../../src/protocols/json-scan.ts'
import { amount } from '../support/amount.ts'
import { seeded } from '../support/random.ts'
import { randomJson, randomMember } from './random-json.ts'

const names = ['model', 'n'] as const

function scan(text: string, options: ScanOptions = { depthMax: 16 }) {
  const bytes = Buffer.from(text)
  const members = scanMembers(bytes, { start: 0, end: bytes.length }, names, options)
  return Object.fromEntries(
    Object.entries(members).map(([name, span]) => [name, bytes.toString('utf8', span.start, span.end)]),
  )
}

function refusalOf(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('scanMembers', () => {
  it('finds the top-level members and no others', () => {
    expect(scan('{"a":{"model":1},"model" : "x" ,"b":["model"],"n":[1,{"n":2}]}')).toEqual({
      model: '"x"',
      n: '[1,{"n":2}]',
    })
    expect(scan(' { } \n')).toEqual({})
  })

  it('reads keys that are written with escapes', () => {
    expect(scan('{"\\u006dodel":"x"}')).toEqual({ model: '"x"' })
  })

  it('refuses a repeated member, escaped or not', () => {
    expect(refusalOf(() => scan('{"model":"a","model":"b"}')).field).toBe('model')
    expect(refusalOf(() => scan('{"model":"a","mode\\u006c":"b"}')).field).toBe('model')
    expect(scan('{"other":1,"other":2,"n":1}')).toEqual({ n: '1' })
  })

  it.each([
    ['capitals', 'Model'],
    ['capitals only', 'MODEL'],
    ['an escaped capital', '\\u004dodel'],
    ['capitals beside escapes', 'M\\u006fdel'],
    ['NUL after it', 'model\\u0000x'],
    ['a long s', '\u017ftream'],
    ['an escaped long s', '\\u017ftream'],
    ['the sign for kelvin', 'max_to\u212aens'],
    ['an escaped sign for kelvin', 'max_to\\u212aens'],
  ])('refuses a member that some readers accept as one of these: %s', (_, key) => {
    const names = ['model', 'stream', 'max_tokens'] as const
    const run = (text: string) => () =>
      scanMembers(Buffer.from(text), { start: 0, end: Buffer.byteLength(text) }, names, { depthMax: 16 })
    for (const text of [`{"${key}":"a"}`, `{"model":"b","${key}":"a"}`, `{"${key}":"a","model":"b"}`]) {
      const { field = '', message } = refusalOf(run(text))
      expect(names).toContain(field)
      expect(message).toMatch(/special letters/)
    }
    const inside = `{"a":{"${key}":"b"},"b":"${key}","models":1,"Modell":1,"_model":1,"m\u00f6del":1}`
    expect(run(inside)()).toEqual({})
  })

  it('is not misled by quotes and backslashes in strings', () => {
    expect(scan('{"a":"\\\\","model":"\\"","b":"\\\\\\",\\"n\\":5"}')).toEqual({ model: '"\\""' })
    const long = '\\"{['.repeat(5000)
    expect(scan(`{"a":"${long}","model":"${long}\\\\"}`)).toEqual({ model: `"${long}\\\\"` })
  })

  it('refuses nesting over the bound, and accepts nesting at it', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
    expect(scan(`{"model":${nested(14)},"n":1}`, { depthMax: 15 })).toHaveProperty('n')
    expect(refusalOf(() => scan(`{"model":${nested(14)},"n":1}`, { depthMax: 14 })).kind).toBe(
      'invalid_request',
    )
    expect(refusalOf(() => scan(`{"n":${'['.repeat(1_000_000)}`, { depthMax: 2000 })).message).toMatch(
      /nested/,
    )
  })

  it('refuses more keys and values than the bound, and accepts as many, however they are nested', () => {
    const limits = { depthMax: 16, valuesMax: 12 }
    const refused = (text: string) => refusalOf(() => scan(text, limits))
    // With the whole object, its key and the array, these make 12.
    const nines = [
      '1,"a",[],{},null,true,-1.5,[[]]',
      '{"x":1,"y":[],"z":{}},[],0',
      '{"x":{"x":{"x":{"x":[]}}}}',
    ]
    for (const text of nines) expect(scan(`{"n":[${text}]}`, limits)).toHaveProperty('n')
    for (const text of nines) expect(refused(`{"n":[${text},0]}`).kind).toBe('invalid_request')
    expect(refused(`{${Array.from({ length: 6 }, (_, i) => `"k${i}":0`).join()}}`).message).toMatch(
      /^body: .*12.*keys and values/,
    )
    expect(scan(`{${Array.from({ length: 5 }, (_, i) => `"k${i}":0`).join()}}`, limits)).toEqual({})
    expect(scan('{"n":[[],[],[],[],[],[],[],[],[],[],[],[]]}')).toHaveProperty('n')
  })

  it('counts a list or object more than once the deeper it lies: each 16 levels make one more', () => {
    const chain = `{"n":${'['.repeat(40)}${']'.repeat(40)},"m":1}`
    // The object, two keys, a number, and 40 lists, of which 16 count twice and 8 three times.
    const counted = 4 + 40 + 16 + 2 * 8
    expect(scan(chain, { depthMax: 64, valuesMax: counted })).toHaveProperty('n')
    expect(refusalOf(() => scan(chain, { depthMax: 64, valuesMax: counted - 1 })).message).toMatch(
      /keys and values/,
    )
  })

  it('counts the same in documents whose long strings it skips as in small ones', () => {
    const text = `{"a":"${'x'.repeat(50_000)}","n":[${'[],'.repeat(95)}[]]}`
    expect(scan(text, { depthMax: 16, valuesMax: 101 })).toHaveProperty('n')
    expect(refusalOf(() => scan(text, { depthMax: 16, valuesMax: 100 })).message).toMatch(/keys and values/)
  })

  it('says where the JSON is wrong, and quotes none of it', () => {
    expect(refusalOf(() => scan('{"model":"a",\n "n":sk-secret-value}')).message).toBe(
      'body: not valid JSON: expected a value (line 2 column 6)',
    )
    expect(refusalOf(() => scan('{"model":"a" "n":1}')).message).toMatch(
      /expected ',' or '}'.*line 1 column 14/,
    )
    expect(refusalOf(() => scan('{"model":"a"}{}')).message).toMatch(/unexpected text after/)
    expect(refusalOf(() => scan('[1]')).message).toBe('body: expected a JSON object, got array')
    expect(refusalOf(() => scan('')).message).toMatch(/got nothing/)
  })

  it('uses no memory for a key of megabytes, and knows its beginning', () => {
    const key = (beginning: string) => Buffer.from(`{"${beginning}${'é'.repeat(4_000_000)}":1}`)
    const scanKey = (bytes: Buffer) =>
      scanMembers(bytes, { start: 0, end: bytes.length }, names, { depthMax: 16 })
    expect(refusalOf(() => scanKey(key('Model\\u0000'))).message).toMatch(/special letters/)
    expect(scanKey(key('\\u006dodel'))).toEqual({})
    for (let shift = 0; shift < 12; shift++) expect(scanKey(key(`${'x'.repeat(shift)}\\u0061`))).toEqual({})
    const decoded = vi.spyOn(Buffer.prototype, 'toString')
    onTestFinished(() => decoded.mockRestore())
    const bytes = key('')
    expect(scanKey(bytes)).toEqual({})
    expect(decoded).toHaveBeenCalled()
    for (const { value } of decoded.mock.results) expect(value.length).toBeLessThan(1000)
  })

  it('counts the column in characters, and in bytes if the line is long', () => {
    const columnIn = (key: string) => /column (\d+)/.exec(refusalOf(() => scan(`{"${key}":x}`)).message)?.[1]
    expect(columnIn('é'.repeat(2_000))).toBe('2005')
    expect(columnIn('é'.repeat(5_000))).toBe('10005')
  })

  it('finds the fault in a body of line breaks without using memory for each line', () => {
    const bytes = Buffer.alloc(16 * 1024 * 1024, '\n')
    bytes.write('{"a":1')
    bytes[bytes.length - 1] = 0x78
    const before = process.memoryUsage().heapUsed
    const refusal = refusalOf(() =>
      scanMembers(bytes, { start: 0, end: bytes.length }, names, { depthMax: 16 }),
    )
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(bytes.length / 2)
    expect(refusal.message).toMatch(/line 16777210 column 1\)$/)
  })

  it('agrees with JSON.parse on what is JSON', () => {
    const random = seeded(7)
    const rounds = amount('FUZZ_ROUNDS', { test: 6_000, chaos: 40_000 })
    let broken = 0
    for (let round = 0; round < rounds; round++) {
      const members = Array.from({ length: random.upTo(3) }, (_, i) =>
        randomMember(random, `"k${i}"`, randomJson(random)),
      )
      let text = `{${members.join(',')}}`
      for (let edits = random.upTo(2); edits > 0; edits--) {
        const at = random.upTo(text.length - 1)
        const insert = random.pick([
          '',
          '"',
          '\\',
          '{',
          ']',
          ',',
          ':',
          '\n',
          '1',
          '.',
          '-',
          'e',
          'u',
          'x',
          '\u0001',
        ])
        text = text.slice(0, at) + insert + text.slice(at + random.upTo(1))
      }
      const { parses, isObject } = parsed(text)
      if (parses && !isObject) continue
      if (!parses) broken++
      expect({ text, scans: scans(text) }).toEqual({ text, scans: parses })
    }
    expect(broken).toBeGreaterThan(rounds / 6)
  })

  it('checks the structure of large documents too, and skips their strings', () => {
    const filler = `"filler":"${'x'.repeat(40_000)}"`
    expect(scan(`{${filler},"model":"a"}`)).toEqual({ model: '"a"' })
    for (const tail of ['"n":[1}', '"n":"open}', '"n":1', '"n":1}}', '"n":{"a" 1}}', '"n":01}', ',"n":1}']) {
      expect(refusalOf(() => scan(`{${filler},${tail}`)).kind).toBe('invalid_request')
    }
  })
})

describe('scanElements', () => {
  it('finds the elements of an array', () => {
    const bytes = Buffer.from('[ 1, {"a":[2,3]} ,"x,y"]')
    const spans = scanElements(bytes, { start: 0, end: bytes.length }, { depthMax: 8 })
    expect(spans.map(({ start, end }) => bytes.toString('utf8', start, end))).toEqual([
      '1',
      '{"a":[2,3]}',
      '"x,y"',
    ])
    expect(scanElements(Buffer.from('[ ]'), { start: 0, end: 3 }, { depthMax: 8 })).toEqual([])
  })
})

describe('checkText', () => {
  it('refuses invalid UTF-8 and a byte order mark', () => {
    expect(refusalOf(() => checkText(Buffer.from([0x7b, 0xff, 0x7d]))).message).toBe('body: not valid UTF-8')
    expect(refusalOf(() => checkText(Buffer.from('\uFEFF{}'))).message).toMatch(/byte order mark/)
    expect(checkText(Buffer.from('{"a":"é😀"}'))).toBeUndefined()
  })
})

function scans(text: string): boolean {
  const bytes = Buffer.from(text)
  try {
    scanMembers(bytes, { start: 0, end: bytes.length }, names, { depthMax: 64 })
    return true
  } catch {
    return false
  }
}

function parsed(text: string): { parses: boolean; isObject: boolean } {
  try {
    const value: unknown = JSON.parse(text)
    return { parses: true, isObject: typeof value === 'object' && value !== null && !Array.isArray(value) }
  } catch {
    return { parses: false, isObject: false }
  }
}
