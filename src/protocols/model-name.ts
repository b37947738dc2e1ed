import { invalid, jsonType } from '../canonical/field-error.ts'

/** The longest id of a model that a request may name; its column in the usage log has the same bound. */
export const modelCharactersMax = 256

/** The id of a model, from any body. Throws GatewayError `invalid_request` that names `path`. */
export function modelName(value: unknown, path = 'model'): string {
  const problem = modelProblem(value)
  if (problem === undefined && typeof value === 'string') return value
  throw invalid(path, problem ?? 'expected a string')
}

/**
 * Why a value is not the id of a model: it is missing, empty, too long or unprintable. Undefined: it is one.
 */
export function modelProblem(value: unknown): string | undefined {
  if (value === undefined) return 'required: the id of a model, as GET /v1/models lists them'
  if (typeof value !== 'string') return `expected a string, got ${jsonType(value)}`
  if (value === '') return 'expected the id of a model, got an empty string'
  if (value.length > modelCharactersMax) {
    return `expected at most ${modelCharactersMax} characters, got ${value.length}`
  }
  // Postgres stores no NUL and no half of a surrogate pair, and the model is a column of the usage log.
  if (/\p{Cc}/u.test(value) || !value.isWellFormed()) return 'expected printable characters only'
  return undefined
}
