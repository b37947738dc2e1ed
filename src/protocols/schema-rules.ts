import type { SchemaSubset } from '../canonical/traits.ts'

/** What a vendor takes of JSON Schema. Keywords that no rule names go into the description. */
export interface SchemaRules {
  /** Every object must say `additionalProperties: false`. */
  closed: boolean
  /** Every property must be required. */
  allRequired: boolean
  /** A schema may refer to itself. `optional`: only below a property that is not required. */
  recursion: 'no' | 'optional' | 'yes'
  /** The outermost schema must be an object, and no union. */
  rootIsObject: boolean
  /** `enum` and `const` come with a type, without one, or as an `enum` of texts and numbers. */
  literals: 'typed' | 'untyped' | 'texts-and-numbers'
  prefixItems: boolean
  /** Keywords of numbers, texts and arrays that it takes as they are. */
  keeps: ReadonlySet<string>
  /** The largest `minItems`. */
  minItemsMax: number
  formats: ReadonlySet<string>
}

const commonFormats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']

export const schemaRules: Readonly<Partial<Record<SchemaSubset, SchemaRules>>> = {
  /**
   * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations, and
   * what the vendor's SDK 1.12 does (`lib/transform-json-schema`), read 2026-11-22. The vendor takes simple
   * patterns; the SDK takes all patterns out, and so do we.
   */
  anthropic: {
    closed: true,
    allRequired: false,
    recursion: 'no',
    rootIsObject: false,
    literals: 'untyped',
    prefixItems: false,
    keeps: new Set(['minItems']),
    minItemsMax: 1,
    formats: new Set([...commonFormats, 'uri']),
  },
  /** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, read 2026-11-22. */
  'openai-strict': {
    closed: true,
    allRequired: true,
    recursion: 'yes',
    rootIsObject: true,
    literals: 'typed',
    prefixItems: false,
    keeps: new Set([
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'multipleOf',
      'minItems',
      'maxItems',
      'pattern',
    ]),
    minItemsMax: Number.POSITIVE_INFINITY,
    formats: new Set(commonFormats),
  },
  /** `responseJsonSchema` in https://ai.google.dev/api/generate-content#generationconfig, read 2026-11-22. */
  gemini: {
    closed: false,
    allRequired: false,
    recursion: 'optional',
    rootIsObject: false,
    literals: 'texts-and-numbers',
    prefixItems: true,
    keeps: new Set(['minimum', 'maximum', 'minItems', 'maxItems']),
    minItemsMax: Number.POSITIVE_INFINITY,
    formats: new Set(['date-time', 'date', 'time']),
  },
}

/** Keywords that say nothing about a value: they vanish. */
export const silentKeywords: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
  '$defs',
  'definitions',
])

/** Keywords that advise the model but refuse no value: they go into the description, and nothing is lost. */
export const adviceKeywords: ReadonlySet<string> = new Set([
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'discriminator',
  'propertyOrdering',
])

/** The type of the values that a keyword is about, for schemas without a type. */
export const typeOfKeyword: Readonly<Record<string, string>> = {
  properties: 'object',
  additionalProperties: 'object',
  patternProperties: 'object',
  required: 'object',
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  maxItems: 'array',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
  minLength: 'string',
  maxLength: 'string',
  pattern: 'string',
  format: 'string',
}

/** The types whose values a keyword of `keeps` is about. */
export const keywordsOfType: Readonly<Record<string, readonly string[]>> = {
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['pattern'],
  array: ['minItems', 'maxItems'],
}
