import type { SchemaSubset } from '../canonical/traits.ts'

/**
 * The parts of JSON Schema that a vendor supports. Keywords that no rule mentions are moved to the
 * description.
 */
export interface SchemaRules {
  /** Every object must set `additionalProperties: false`. */
  closed: boolean
  /** Every property must be required. */
  allRequired: boolean
  /** Whether a schema can refer to itself. `optional`: only inside a property that is not required. */
  recursion: 'no' | 'optional' | 'yes'
  /** The root schema must be an object, not a union. */
  rootIsObject: boolean
  /**
   * Whether `enum` and `const` are written with a type, without one, or as an `enum` of texts and numbers.
   */
  literals: 'typed' | 'untyped' | 'texts-and-numbers'
  prefixItems: boolean
  /** Keywords of numbers, texts and arrays that are supported unchanged. */
  keeps: ReadonlySet<string>
  /** The largest supported `minItems`. */
  minItemsMax: number
  formats: ReadonlySet<string>
}

const commonFormats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']

export const schemaRules: Readonly<Partial<Record<SchemaSubset, SchemaRules>>> = {
  /**
   * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations, and the
   * behaviour of the vendor's SDK 1.12 (`lib/transform-json-schema`), read 2026-11-22. The vendor supports
   * simple patterns, but its SDK removes all patterns, and so do we.
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

/** Keywords that do not restrict values. They are removed. */
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

/**
 * Keywords that advise the model but do not reject any value. They are moved to the description, and nothing
 * is lost.
 */
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

/** The type of value to which a keyword applies, for schemas without a type. */
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

/** The types to whose values a keyword of `keeps` applies. */
export const keywordsOfType: Readonly<Record<string, readonly string[]>> = {
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['pattern'],
  array: ['minItems', 'maxItems'],
}
