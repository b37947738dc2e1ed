import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { isRecord } from '../canonical/json.ts'

/**
 * The id in the member `conversation` of a request; undefined: it names none. Throws `invalid_request` beside
 * an answer that the request continues: the vendor takes one of them.
 */
export function conversationIn(value: unknown, previousId: string | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  const id = isRecord(value) ? value.id : value
  if (typeof id !== 'string' || id === '')
    throw invalid('conversation', 'expected an id, or an object with an id')
  if (previousId === undefined) return id
  throw gatewayError('mutually_exclusive_parameters', {}, { field: 'conversation' })
}

/**
 * Clients make conversations directly at the vendor, on an account that tenants share. We cannot know whose a
 * conversation is.
 */
export function conversationRefused(): GatewayError {
  return gatewayError('conversation_not_continuable', {}, { field: 'conversation' })
}
