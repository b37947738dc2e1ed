import type { IncomingHttpHeaders } from 'node:http'
import { clientSide } from '../protocols/index.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { Endpoint } from './call.ts'

/** Public paths, how each is called, and the format its clients speak: answers and errors are written in it. */
export const knownPaths: Readonly<Record<string, { method: 'GET' | 'POST'; protocol: ProtocolName }>> = {
  '/v1/chat/completions': { method: 'POST', protocol: 'openai-chat' },
  '/v1/responses': { method: 'POST', protocol: 'openai-responses' },
  '/v1/responses/input_tokens': { method: 'POST', protocol: 'openai-responses' },
  '/v1/messages': { method: 'POST', protocol: 'anthropic-messages' },
  '/v1/messages/count_tokens': { method: 'POST', protocol: 'anthropic-messages' },
  '/v1/images/generations': { method: 'POST', protocol: 'openai-images' },
  '/v1/translate': { method: 'POST', protocol: 'openai-chat' },
  '/v1/models': { method: 'GET', protocol: 'openai-chat' },
  '/v1/usage/requests': { method: 'GET', protocol: 'openai-chat' },
  '/v1/usage/summary': { method: 'GET', protocol: 'openai-chat' },
  '/v1/usage/budget': { method: 'GET', protocol: 'openai-chat' },
}

/**
 * The endpoint of a path, also of one that does not exist: what looks like a format's path is answered in that format.
 * Paths that belong to no format speak the Messages format to clients that send its version header.
 */
export function endpointOf(path: string, headers: IncomingHttpHeaders = {}): Endpoint {
  const protocol = protocolOf(path, headers)
  // Images are asked for in a format of their own, whose errors are those of its vendor's chats.
  return { path, protocol, client: clientSide(protocol === 'openai-images' ? 'openai-chat' : protocol) }
}

function protocolOf(path: string, headers: IncomingHttpHeaders): ProtocolName {
  if (/\/messages(\/|$)/.test(path)) return 'anthropic-messages'
  if (/\/responses(\/|$)/.test(path)) return 'openai-responses'
  if (/\/chat\/completions(\/|$)/.test(path)) return 'openai-chat'
  if (/\/images(\/|$)/.test(path)) return 'openai-images'
  return headers['anthropic-version'] === undefined ? 'openai-chat' : 'anthropic-messages'
}
