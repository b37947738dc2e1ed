import { GatewayError } from '../canonical/error.ts'

/** Conversations are made past us, on a vendor's account that tenants share: whose one is cannot be known. */
export function conversationRefused(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'conversation: a conversation that a vendor keeps cannot be continued here, because it cannot be told whose it is. Send previous_response_id, or the items themselves in "input".',
    { field: 'conversation' },
  )
}
