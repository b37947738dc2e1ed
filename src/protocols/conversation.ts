import { GatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { isRecord } from '../canonical/json.ts'

/**
 * The id in the member `conversation` of a request; undefined: it names none. Throws `invalid_request` beside an answer that the request
 * continues: the vendor takes one of them.
 */
export function conversationIn(value: unknown, previousId: string | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  const id = isRecord(value) ? value.id : value
  if (typeof id !== 'string' || id === '')
    throw invalid('conversation', 'expected an id, or an object with an id')
  if (previousId === undefined) return id
  throw new GatewayError(
    'invalid_request',
    'conversation: cannot be given together with previous_response_id. Send one of them.',
    { field: 'conversation', code: 'mutually_exclusive_parameters' },
  )
}

/**
 * Clients make conversations directly at the vendor, on an account that tenants share. We cannot know whose a
 * conversation is.
 */
export function conversationRefused(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'conversation: this key keeps none here (the operator can have the gateway keep them: responses: { store: true } of the key or its group), and one that a vendor keeps cannot be continued, because the gateway cannot know whose it is. Send previous_response_id, or the items themselves in "input".',
    { field: 'conversation' },
  )
}
