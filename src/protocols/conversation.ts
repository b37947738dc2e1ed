import { GatewayError } from '../canonical/error.ts'

/**
 * Clients make conversations directly at the vendor, on an account that tenants share. We cannot know whose a
 * conversation is.
 */
export function conversationRefused(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'conversation: a conversation that a vendor keeps cannot be continued here, because the gateway cannot know whose it is. Send previous_response_id, or the items themselves in "input".',
    { field: 'conversation' },
  )
}
