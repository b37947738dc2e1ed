import { type Answer, answerBytes, answerEvents } from './answers.ts'

/** The format of the load driver's client. */
export type ClientProtocol = 'openai-chat' | 'anthropic-messages'

interface Client {
  path: string
  /** Names and values in turn. */
  headers(key: string): string[]
  /** Size of the body for the client when the mock upstream gave `answer`; undefined if only a real answer can show it. */
  bytes(answer: Answer): number | undefined
  /** Number of events that end in a blank line; 0 for an answer that is not streamed. */
  events(answer: Answer): number
  /** The last bytes of every stream. */
  terminal: string
}

export const clients: Readonly<Record<ClientProtocol, Client>> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    headers: (key) => ['content-type', 'application/json', 'authorization', `Bearer ${key}`],
    bytes: answerBytes,
    events: answerEvents,
    terminal: 'data: [DONE]\n\n',
  },
  'anthropic-messages': {
    path: '/v1/messages',
    headers: (key) => [
      'content-type',
      'application/json',
      'x-api-key',
      key,
      'anthropic-version',
      '2023-06-01',
    ],
    bytes: () => undefined,
    // Around the content: message_start, content_block_start and _stop, message_delta, message_stop.
    events: (answer) => (answer.kind === 'json' ? 0 : answer.events + 5),
    terminal: 'data: {"type":"message_stop"}\n\n',
  },
}

/**
 * A conversation of the given size, valid in every protocol of `clients`: prose with line breaks and quotes, in
 * messages of at most 5 KB in turn, the user's first and last. The model comes first, where the mock looks for it.
 */
export function requestBody(model: string, bytes: number, stream: boolean): string {
  const prose =
    'The quick gateway, as the "operators" say, passes over the lazy proxy.\nIt counts every token on its way. '
  const count = Math.ceil((bytes - 100) / 5000) | 1
  const content = prose.repeat(50).slice(0, Math.ceil((bytes - 100) / count))
  const messages = Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content,
  }))
  return JSON.stringify({ model, messages, max_tokens: 512, ...(stream && { stream: true }) })
}
