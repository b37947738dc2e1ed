import type { Connection } from '../catalog/channel-connection.ts'
import type { Credential } from '../routing/credentials.ts'
import { type BodyParts, bodySize } from './paced-body.ts'

interface HeadedRequest {
  body: Buffer | BodyParts | null
  stream: boolean
  /** The media types of an answer that is not a stream. Default JSON. */
  accept?: string | undefined
  /** Alternating names and values, without credentials. */
  headers: readonly string[]
  authHeaders(secret: string): Record<string, string>
  traceHeaders?: readonly string[] | undefined
}

/**
 * Returns alternating names and values. The channel's headers override those of the client and of Tollgate.
 * Without a credential, the request fetches a link, which may point anywhere, so neither the credential nor
 * the channel's headers are sent.
 */
export function headersOf(
  credential: Credential | undefined,
  { stream, accept = 'application/json', body, headers: own, authHeaders, traceHeaders }: HeadedRequest,
  connection: Connection | undefined,
): string[] {
  const plain = [
    'content-type',
    'application/json',
    'accept',
    stream ? 'text/event-stream' : accept,
    'accept-encoding',
    'identity',
    'user-agent',
    'tollgate/0.1',
    ...own,
  ]
  if (traceHeaders !== undefined && credential !== undefined) plain.push(...traceHeaders)
  const extra = credential === undefined ? undefined : connection?.headers
  const headers = extra === undefined ? plain : replaced(plain, extra)
  if (isParts(body)) headers.push('content-length', String(bodySize(body)))
  if (credential === undefined || credential.secret === '') return headers
  for (const [name, value] of Object.entries(authHeaders(credential.secret))) headers.push(name, value)
  return headers
}

/** Returns the headers of a WebSocket upgrade, without those that describe the body. */
export function upgradeHeadersOf(
  credential: Credential,
  { headers: own, authHeaders }: Pick<HeadedRequest, 'headers' | 'authHeaders'>,
  connection: Connection | undefined,
): Record<string, string> {
  const plain = ['user-agent', 'tollgate/0.1', ...own]
  const pairs = connection?.headers === undefined ? plain : replaced(plain, connection.headers)
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const [name = '', value = ''] = pairs.slice(at, at + 2)
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return credential.secret === '' ? headers : { ...headers, ...authHeaders(credential.secret) }
}

export function isParts(body: HeadedRequest['body']): body is BodyParts {
  return body !== null && !Buffer.isBuffer(body)
}

function replaced(headers: readonly string[], extra: Readonly<Record<string, string>>): string[] {
  const kept = headers.filter((_, at) => !Object.hasOwn(extra, (headers[at - (at % 2)] ?? '').toLowerCase()))
  return [...kept, ...Object.entries(extra).flat()]
}
