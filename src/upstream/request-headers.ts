import type { Connection } from '../catalog/channel-connection.ts'
import { type BodyParts, bodySize } from './paced-body.ts'

interface HeadedRequest {
  body: Buffer | BodyParts | null
  stream: boolean
  /** The media types of an answer that is not a stream. Default JSON. */
  accept?: string | undefined
  /** Alternating names and values, without credentials. */
  headers: readonly string[]
  traceHeaders?: readonly string[] | undefined
}

/**
 * Returns alternating names and values, unsigned. The channel's headers override those of the client and of
 * Tollgate. They are not sent to a link, which may point anywhere: it has no `connection`.
 */
export function headersOf(
  { stream, accept = 'application/json', body, headers: own, traceHeaders }: HeadedRequest,
  connection: Connection | undefined,
): string[] {
  const headers = [
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
  if (traceHeaders !== undefined) headers.push(...traceHeaders)
  replaceByChannel(headers, connection)
  if (isParts(body)) headers.push('content-length', String(bodySize(body)))
  return headers
}

/** Returns the headers of a WebSocket upgrade, without those that describe the body. */
export function upgradeHeadersOf(own: readonly string[], connection: Connection | undefined): string[] {
  const headers = ['user-agent', 'tollgate/0.1', ...own]
  replaceByChannel(headers, connection)
  return headers
}

/** Returns the headers by name, for `ws`. */
export function byName(pairs: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const [name = '', value = ''] = pairs.slice(at, at + 2)
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}

export function isParts(body: HeadedRequest['body']): body is BodyParts {
  return body !== null && !Buffer.isBuffer(body)
}

function replaceByChannel(headers: string[], connection: Connection | undefined): void {
  if (connection?.headers !== undefined) replaceHeaders(headers, Object.entries(connection.headers).flat())
}

/** Adds headers, which replace those of the same names. Both are alternating names and values. */
export function replaceHeaders(headers: string[], added: readonly string[]): void {
  let kept = 0
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    if (hasName(added, name.toLowerCase())) continue
    headers[kept++] = name
    headers[kept++] = headers[at + 1] ?? ''
  }
  headers.length = kept
  headers.push(...added)
}

function hasName(headers: readonly string[], lowerCaseName: string): boolean {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]?.toLowerCase() === lowerCaseName) return true
  return false
}
