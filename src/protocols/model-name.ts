import { invalid, jsonType } from '../canonical/field-error.ts'

/** The maximum length of a model id in a request. Its column in the usage log has the same limit. */
export const modelCharactersMax = 256

/** Reads a model id from a body of any format. Throws GatewayError `invalid_request` with `path`. */
export function modelName(value: unknown, path = 'model'): string {
  const problem = modelProblem(value)
  if (problem === undefined && typeof value === 'string') return value
  throw invalid(path, problem ?? 'expected a string')
}

/**
 * Why a value is not a valid model id: it is missing, empty, too long or unprintable. Undefined if it is
 * valid.
 */
export function modelProblem(value: unknown): string | undefined {
  if (value === undefined) return 'required: send the id of a model from GET /v1/models'
  if (typeof value !== 'string') return `expected a string, got ${jsonType(value)}`
  if (value === '') return 'expected a model id, got an empty string'
  if (value.length > modelCharactersMax) {
    return `expected at most ${modelCharactersMax} characters, got ${value.length}`
  }
  // Postgres cannot store NUL or unpaired surrogates, and the model is a column of the usage log.
  if (/\p{Cc}/u.test(value) || !value.isWellFormed()) return 'expected printable characters only'
  return undefined
}
