import { isRecord } from '../../../../src/canonical/json.ts'
import { refuse } from '../check.ts'

/**
 * The JSON Schemas to which Claude can hold an answer. Throws Refusal.
 *
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
 * https://github.com/BerriAI/litellm/issues/35808, read 2026-11-22
 */
export function checkClaudeSchema(schema: unknown, path: string): void {
  if (!isRecord(schema)) return
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (isRecord(schema.properties) || types.includes('object')) {
    if (schema.additionalProperties !== false) {
      refuse(`${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`)
    }
  }
  for (const type of types) {
    const names = refusedMembers[String(type)]?.filter((name) => schema[name] !== undefined) ?? []
    if (names.length === 1) refuse(`${path}: For '${type}' type, property '${names[0]}' is not supported`)
    if (names.length > 1)
      refuse(`${path}: For '${type}' type, properties ${names.join(', ')} are not supported`)
  }
  if (typeof schema.minItems === 'number' && schema.minItems > 1) {
    refuse(`${path}: For 'array' type, 'minItems' values other than 0 or 1 are not supported`)
  }
  for (const name of ['oneOf', 'not', 'if', 'dependentSchemas', 'patternProperties']) {
    if (schema[name] !== undefined) refuse(`${path}: Schema type '${name}' is not supported`)
  }
  for (const place of ['properties', '$defs', 'definitions']) {
    const held = schema[place]
    if (!isRecord(held)) continue
    for (const [name, one] of Object.entries(held)) checkClaudeSchema(one, `${path}.${place}.${name}`)
  }
  for (const place of ['anyOf', 'allOf']) {
    const held = schema[place]
    if (!Array.isArray(held)) continue
    for (const [at, one] of held.entries()) checkClaudeSchema(one, `${path}.${place}.${at}`)
  }
  checkClaudeSchema(schema.items, `${path}.items`)
}

const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
const refusedMembers: Readonly<Record<string, readonly string[]>> = {
  integer: bounds,
  number: bounds,
  string: ['minLength', 'maxLength'],
  array: ['maxItems', 'uniqueItems', 'contains'],
  object: ['minProperties', 'maxProperties', 'propertyNames'],
}
