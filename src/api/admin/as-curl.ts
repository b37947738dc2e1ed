import type { ProtocolName } from '../../protocols/protocol.ts'
import { modelEndpoints } from '../../stages/endpoints.ts'

/** A kept request. */
export interface CurlRequest {
  endpoint: string
  client_protocol: string | null
  stream: boolean
  payload: { capture: string; body: string } | null
}

export interface AsCurl {
  /**
   * For a POSIX shell. It needs the variables TOLLGATE_KEY and, where PUBLIC_URL is not set, TOLLGATE_URL.
   */
  command: string
  /** How the command differs from the request as the client sent it. */
  differs: string[]
}

/**
 * The request that a client would have to send. Null for a path that no model answers. The key is never kept:
 * a shell variable takes its place.
 */
export function asCurl(kept: CurlRequest, publicUrl: string | undefined): AsCurl | null {
  const endpoint = modelEndpoints.find(({ path }) => path === kept.endpoint)
  if (endpoint === undefined) return null
  const base = publicUrl?.replace(/\/+$/, '')
  const address =
    base === undefined
      ? `"$TOLLGATE_URL"${shellQuoted(endpoint.path)}`
      : shellQuoted(`${base}${endpoint.path}`)
  const body = kept.payload?.body
  const lines = [
    `${kept.stream ? 'curl -sS -N' : 'curl -sS'} -X POST ${address}`,
    ...headersFor(endpoint.protocol).map((header) => `-H ${header}`),
  ]
  const differs = differencesOf(kept)
  if (body === undefined) {
    return { command: [...lines, '--data-binary @request.json'].join(continued), differs }
  }
  if (Buffer.byteLength(body) <= argumentBytesMax) {
    // `--data-raw` reads no file where the body begins with @.
    return { command: [...lines, `--data-raw ${shellQuoted(body)}`].join(continued), differs }
  }
  // Only a shell builtin takes an argument of this length.
  const sent = [...lines, '--data-binary @-'].join(continued)
  return { command: `printf %s ${shellQuoted(body)} | ${sent}`, differs }
}

/** A POSIX shell takes all characters between single quotes as they are. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

const continued = ' \\\n  '
/** Linux takes 128 KiB: MAX_ARG_STRLEN in execve(2). */
const argumentBytesMax = 96 * 1024

function headersFor(protocol: ProtocolName): string[] {
  const type = shellQuoted('content-type: application/json')
  return protocol === 'anthropic-messages'
    ? [type, '"x-api-key: $TOLLGATE_KEY"', shellQuoted('anthropic-version: 2023-06-01')]
    : [type, '"authorization: Bearer $TOLLGATE_KEY"']
}

function differencesOf({ payload }: CurlRequest): string[] {
  if (payload === null) return ['The body is not kept: write it to request.json.']
  if (payload.capture === 'shape') return ['Only the shape of the body is kept: its texts are placeholders.']
  const { body } = payload
  return [
    ...(body.includes('[REDACTED ') ? ['Secrets of the body are placeholders.'] : []),
    ...(/…\[\d+ bytes cut\]…/.test(body) ? ['The body is kept in part: long texts lack their middle.'] : []),
  ]
}
