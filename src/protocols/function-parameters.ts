import type { Json } from '../canonical/json.ts'

/**
 * Returns the schema of a function's parameters in the form that OpenAI accepts. OpenAI refuses an object
 * without `properties`, which MCP tools without parameters have and which means the same as an empty one:
 * https://github.com/spring-projects/spring-ai/issues/4776, https://github.com/janhq/jan/issues/7017, read
 * 2026-11-22
 */
export function functionParameters(parameters: Json = {}): Json {
  const { type, properties } = parameters
  const isObject = type === 'object' || Object.keys(parameters).length === 0
  return isObject && properties === undefined ? { ...parameters, type: 'object', properties: {} } : parameters
}
