import { describe, expect, test } from 'vitest'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import type { SchemaSubset } from '../../src/canonical/traits.ts'
import { removedText, rewriteSchema } from '../../src/protocols/schema-subset.ts'
import { type Random, seeded } from '../support/random.ts'
import { accepts, brokenRules } from './schema-rules.ts'

const subsets: SchemaSubset[] = ['anthropic', 'openai-strict', 'gemini']

const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const closed = (properties: Json, required: string[]): Json =>
  object(properties, { required, additionalProperties: false })

describe('bounds', () => {
  test('Messages: they move into the description of their place, as in the vendor’s SDK', () => {
    const schema = object({
      age: { type: 'integer', minimum: 3, maximum: 5, description: 'In years.' },
      tags: { type: 'array', items: { type: 'string', minLength: 2 }, minItems: 2 },
    })
    const before = structuredClone(schema)
    const { schema: rewritten, removed, fits } = rewriteSchema(schema, 'anthropic')
    expect(rewritten).toEqual(
      object(
        {
          age: { type: 'integer', description: 'In years.\n\n{minimum: 3, maximum: 5}' },
          tags: {
            type: 'array',
            items: { type: 'string', description: '{minLength: 2}' },
            minItems: 1,
            description: '{minItems: 2}',
          },
        },
        { additionalProperties: false },
      ),
    )
    expect(removed.map(({ path, what }) => `${path}: ${what}`)).toEqual([
      'properties.age: minimum: 3',
      'properties.age: maximum: 5',
      'properties.tags.items: minLength: 2',
      'properties.tags: minItems: 2',
    ])
    expect(removedText(removed)).toContain('minimum: 3 (properties.age)')
    expect(fits).toBe(true)
    expect(schema).toEqual(before)
  })

  test('OpenAI: those of numbers and lists stay, those of texts do not', () => {
    const { schema } = rewriteSchema(
      closed({ n: { type: 'number', minimum: 3 }, t: { type: 'string', maxLength: 4, format: 'uri' } }, [
        'n',
        't',
      ]),
      'openai-strict',
    )
    expect(schema.properties).toEqual({
      n: { type: 'number', minimum: 3 },
      t: { type: 'string', description: '{maxLength: 4, format: uri}' },
    })
  })
})

test('OpenAI: every property is required, and null stands for one that was optional', () => {
  const { schema, removed } = rewriteSchema(
    object(
      { a: { type: 'string' }, b: { enum: ['x'] }, c: { $ref: '#/$defs/C' } },
      { $defs: { C: object({}) } },
    ),
    'openai-strict',
  )
  expect(schema.required).toEqual(['a', 'b', 'c'])
  const description = '{optional: null if absent}'
  expect(schema.properties).toEqual({
    a: { type: ['string', 'null'], description },
    b: { type: ['string', 'null'], enum: ['x', null], description },
    c: { anyOf: [{ $ref: '#/$defs/C' }, { type: 'null' }], description },
  })
  expect(removed.map(({ what }) => what)).toEqual(['optional', 'optional', 'optional'])
})

describe('unions', () => {
  test.each(subsets)('oneOf becomes anyOf, and what is around it goes into each branch (%s)', (subset) => {
    const branch = (kind: string): Json => ({ properties: { kind: { const: kind } }, required: ['kind'] })
    const whole = object(
      {
        pet: object(
          { name: { type: 'string' } },
          { required: ['name'], oneOf: [branch('cat'), branch('dog')] },
        ),
      },
      { required: ['pet'] },
    )
    const { schema, removed, fits } = rewriteSchema(whole, subset)
    expect(brokenRules(schema, subset)).toEqual([])
    expect(removed).toEqual([])
    expect(fits).toBe(true)
    for (const kind of ['cat', 'dog', 'cow']) {
      expect(accepts(schema, schema, { pet: { name: 'n', kind } }), kind).toBe(kind !== 'cow')
    }
  })

  test('allOf is merged into its place, also through references', () => {
    const base = object({ id: { type: 'integer' } }, { required: ['id'] })
    const schema = object(
      {
        one: {
          allOf: [
            { $ref: '#/definitions/Base' },
            object({ name: { type: 'string' } }, { required: ['name'] }),
          ],
        },
      },
      { definitions: { Base: base } },
    )
    const { schema: rewritten, removed } = rewriteSchema(schema, 'anthropic')
    const { one } = rewritten.properties as Json
    expect(one).toEqual(closed({ id: { type: 'integer' }, name: { type: 'string' } }, ['id', 'name']))
    expect(removed).toEqual([])
  })
})

describe('references', () => {
  const tree: Json = {
    $ref: '#/$defs/Node',
    $defs: {
      Node: object(
        { value: { type: 'string' }, next: { $ref: '#/$defs/Node' } },
        { required: ['value', 'next'] },
      ),
    },
  }

  test('Messages has no recursion: the rewritten schema does not fit', () => {
    const { schema, fits } = rewriteSchema(tree, 'anthropic')
    expect(brokenRules(schema, 'anthropic')).toEqual([])
    expect(fits).toBe(false)
  })

  test('OpenAI takes recursion, Gemini below an optional property', () => {
    expect(rewriteSchema(tree, 'openai-strict')).toMatchObject({ fits: true, removed: [] })
    const { schema, removed, fits } = rewriteSchema(tree, 'gemini')
    expect(fits).toBe(true)
    expect(removed).toContainEqual({ path: '$defs.Node.properties.next', what: 'required' })
    expect((schema.$defs as { Node: Json }).Node.required).toEqual(['value'])
  })

  test('the description beside a reference stays', () => {
    const schema = object(
      { a: { $ref: '#/$defs/A', description: 'Hello.' } },
      { $defs: { A: { type: 'string' } } },
    )
    expect(rewriteSchema(schema, 'anthropic').schema).toMatchObject({
      properties: { a: { description: 'Hello.', anyOf: [{ $ref: '#/$defs/A' }] } },
      $defs: { A: { type: 'string' } },
    })
  })

  test.each(subsets)('references that lead nowhere and explode do no harm (%s)', (subset) => {
    const $defs: Json = { end: object({ x: { type: 'string', description: 'd'.repeat(10_000) } }) }
    for (let index = 0; index < 60; index += 1) {
      const next = index === 0 ? 'end' : `d${index - 1}`
      $defs[`d${index}`] = { allOf: [{ $ref: `#/$defs/${next}` }, { $ref: `#/$defs/${next}` }] }
    }
    const schema = object(
      { a: { $ref: '#/$defs/d59' }, b: { $ref: 'https://example.com/x' }, c: { $ref: '#/$defs/no' } },
      { $defs },
    )
    const { schema: rewritten } = rewriteSchema(schema, subset)
    expect(brokenRules(rewritten, subset)).toEqual([])
    expect(JSON.stringify(rewritten).length).toBeLessThan(3_000_000)
  })
})

describe('fits', () => {
  test.each<[string, Json, boolean]>([
    ['an object without keys', object({}), true],
    ['free keys', { type: 'object' }, false],
    ['keys of one type', { type: 'object', additionalProperties: { type: 'number' } }, false],
    [
      'a map in a property',
      object({ map: { type: 'object', additionalProperties: { type: 'number' } } }),
      false,
    ],
    ['any value', object({ any: {} }), false],
  ])('%s', (_, schema, fits) => {
    expect(rewriteSchema(schema, 'anthropic').fits).toBe(fits)
    expect(rewriteSchema(schema, 'openai-strict').fits).toBe(fits)
    expect(rewriteSchema(schema, 'gemini').fits).toBe(true)
  })

  test('OpenAI: the outermost schema is an object', () => {
    const list = { type: 'array', items: { type: 'string' } }
    expect(rewriteSchema(list, 'openai-strict').fits).toBe(false)
    expect(rewriteSchema(list, 'anthropic').fits).toBe(true)
  })
})

test('a subset of any schema changes nothing, and none takes none', () => {
  const schema = object({ a: { minimum: 1 } })
  expect(rewriteSchema(schema, 'any')).toEqual({ schema, removed: [], fits: true })
  expect(rewriteSchema(schema, 'none')).toEqual({ schema, removed: [], fits: false })
})

describe('random schemas', () => {
  test.each(subsets)('obey the rules of the vendor, and take what the original takes (%s)', (subset) => {
    let taken = 0
    const random = seeded(7)
    for (let left = 3_000; left > 0; left -= 1) {
      const schema = object(
        { p: randomSchema(random, 3), q: randomSchema(random, 2) },
        {
          ...(random.next() < 0.5 ? { required: ['p'] } : {}),
          $defs: { D: randomSchema(random, 2), E: randomSchema(random, 2) },
        },
      )
      const before = JSON.stringify(schema)
      const { schema: rewritten, fits } = rewriteSchema(schema, subset)
      expect(JSON.stringify(schema)).toBe(before)
      expect(brokenRules(rewritten, subset), `${before}`).toEqual([])
      if (!fits) continue
      for (let round = 0; round < 20; round += 1) {
        const value = randomValueOf(random, schema, schema, 6)
        if (!accepts(schema, schema, value)) continue
        taken += 1
        const filled = subset === 'openai-strict' ? withNulls(rewritten, rewritten, value) : value
        expect(
          accepts(rewritten, rewritten, filled),
          `${before} -> ${JSON.stringify(rewritten)} takes ${JSON.stringify(filled)}`,
        ).toBe(true)
      }
    }
    expect(taken).toBeGreaterThan(1_000)
  })

  test.each(subsets)('odd ones never throw (%s)', (subset) => {
    const odd = [
      null,
      1,
      'x',
      [],
      {},
      [null],
      [{}],
      { type: 7 },
      { $ref: '#' },
      { allOf: [null] },
      true,
      false,
    ]
    const keywords =
      'type properties items anyOf oneOf allOf $ref enum const required prefixItems $defs not title description nullable minItems additionalProperties format'
    for (const keyword of keywords.split(' ')) {
      for (const value of odd) {
        for (const schema of [{ [keyword]: value }, object({ a: { [keyword]: value } })]) {
          const { schema: rewritten } = rewriteSchema(schema, subset)
          expect(brokenRules(rewritten, subset), JSON.stringify(schema)).toEqual([])
        }
      }
    }
  })
})

/** Only shapes whose meaning a rewritten schema keeps: `fits` says about the others that it does not. */
function randomSchema(random: Random, depth: number): Json {
  const leaves: (() => Json)[] = [
    () => ({ type: 'string', ...(random.next() < 0.5 ? { minLength: random.upTo(2) } : {}) }),
    () => ({ type: 'integer', minimum: random.upTo(2), ...(random.next() < 0.3 ? { maximum: 2 } : {}) }),
    () => ({ type: ['string', 'null'] }),
    () => ({ enum: ['a', 'b', null].slice(random.upTo(1)) }),
    () => ({ const: random.pick([1, 'a', true, null]) }),
    () => ({ type: 'boolean', nullable: true }),
    () => ({ type: 'number', format: random.pick(['double', 'date']) }),
    () => ({ $ref: random.pick(['#/$defs/D', '#/$defs/E']), description: 'Seen.' }),
    () => ({ type: 'object', additionalProperties: { type: 'string' } }),
  ]
  const branches: (() => Json)[] = [
    () => {
      const names = ['a', 'b', 'c'].filter(() => random.next() < 0.7)
      const properties = Object.fromEntries(names.map((name) => [name, randomSchema(random, depth - 1)]))
      return object(properties, {
        required: names.filter(() => random.next() < 0.5),
        additionalProperties: false,
      })
    },
    () => ({ type: 'array', items: randomSchema(random, depth - 1), minItems: random.upTo(3) }),
    () => ({ type: ['array', 'null'], items: randomSchema(random, depth - 1) }),
    () => ({
      [random.pick(['anyOf', 'oneOf'])]: [randomSchema(random, depth - 1), randomSchema(random, depth - 1)],
    }),
    () => ({ allOf: [randomSchema(random, depth - 1), randomSchema(random, depth - 1)], title: 'T' }),
    () => ({ type: 'array', prefixItems: [randomSchema(random, 0), randomSchema(random, 0)], maxItems: 2 }),
    () =>
      object(
        { a: { type: 'string' }, b: randomSchema(random, 0) },
        { anyOf: [{ required: ['a'] }, { required: ['b'] }], additionalProperties: false },
      ),
  ]
  return random.pick(depth > 0 && random.next() < 0.7 ? branches : leaves)()
}

function randomValueOf(random: Random, root: Json, schema: unknown, depth: number): unknown {
  const values = [1, 2, 'a', 'abc', true, null, {}, []]
  if (!isRecord(schema) || depth === 0 || random.next() < 0.03) return random.pick(values)
  const again = (other: unknown) => randomValueOf(random, root, other, depth - 1)
  if (typeof schema.$ref === 'string')
    return again((root.$defs as Json)[schema.$ref.slice('#/$defs/'.length)])
  if (Array.isArray(schema.enum)) return random.pick(schema.enum)
  if ('const' in schema) return schema.const
  const { anyOf, oneOf, allOf, properties, items, prefixItems } = schema
  if (Array.isArray(allOf)) {
    const parts = allOf.map(again)
    return parts.every(isRecord) ? Object.assign({}, ...parts) : random.pick(parts)
  }
  const branches = Array.isArray(anyOf) ? anyOf : oneOf
  const chosen = Array.isArray(branches) ? again(random.pick(branches)) : undefined
  if (isRecord(properties)) {
    const own = Object.entries(properties)
      .filter(() => random.next() < 0.8)
      .map(([name, one]) => [name, again(one)])
    return { ...(isRecord(chosen) ? chosen : {}), ...Object.fromEntries(own) }
  }
  if (chosen !== undefined) return chosen
  if (Array.isArray(prefixItems)) return prefixItems.map(again)
  if (items !== undefined) return Array.from({ length: random.upTo(3) }, () => again(items))
  return random.pick(values)
}

/** The value with null for each property that the schema of OpenAI demands. */
function withNulls(root: Json, schema: unknown, value: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > 30) return value
  if (typeof schema.$ref === 'string') {
    return withNulls(root, (root.$defs as Json)[schema.$ref.slice('#/$defs/'.length)], value, depth + 1)
  }
  if (Array.isArray(schema.anyOf)) {
    const filled = schema.anyOf.map((branch) => [branch, withNulls(root, branch, value, depth + 1)] as const)
    return filled.find(([branch, one]) => accepts(root, branch, one))?.[1] ?? value
  }
  if (Array.isArray(value)) return value.map((one) => withNulls(root, schema.items, one, depth + 1))
  if (!isRecord(value) || !isRecord(schema.properties)) return value
  return Object.fromEntries([
    ...Object.entries(value).filter(([name]) => !Object.hasOwn(schema.properties as Json, name)),
    ...Object.entries(schema.properties).map(([name, one]) => [
      name,
      Object.hasOwn(value, name) ? withNulls(root, one, value[name], depth + 1) : null,
    ]),
  ])
}

test('the work for one schema is bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`p${at}`, { type: 'string' }]))
  const allOf = Array.from({ length: 3_000 }, (_, at) => object({ [`q${at}`]: { type: 'string' } }))
  const { schema, removed } = rewriteSchema(object(many, { allOf }), 'anthropic')
  expect(brokenRules(schema, 'anthropic')).toEqual([])
  const merged = Object.keys(schema.properties as Json).filter((name) => name.startsWith('q')).length
  expect(merged).toBeGreaterThan(10)
  expect(merged).toBeLessThan(3_000)
  expect(removed.at(-1)?.what).toContain('allOf: ')
})
