import { gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { isRecord } from '../canonical/json.ts'

/**
 * Reads the id in the member `conversation` of a request; undefined if there is none. Throws
 * `invalid_request` if the request also continues an answer, because the vendor accepts only one of the two.
 */
export function conversationIn(value: unknown, previousId: string | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  const id = isRecord(value) ? value.id : value
  if (typeof id !== 'string' || id === '')
    throw invalid('conversation', 'expected an id, or an object with an id')
  if (previousId === undefined) return id
  throw gatewayError('mutually_exclusive_parameters', {}, { field: 'conversation' })
}
