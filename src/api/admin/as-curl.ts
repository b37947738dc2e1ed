import { modelEndpoints } from '../../pipeline/endpoints.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'

/** A stored request. */
export interface CurlRequest {
  endpoint: string
  client_protocol: string | null
  stream: boolean
  payload: { capture: string; body: string } | null
}

export interface AsCurl {
  /** For a POSIX shell. Requires the variables TOLLGATE_KEY and, if PUBLIC_URL is not set, TOLLGATE_URL. */
  command: string
  /** How the command differs from the request that the client sent. */
  differs: string[]
}

/**
 * Returns the request that a client would have to send, or null for a path that no model answers. The key is
 * never stored, so a shell variable takes its place.
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
    // `--data-raw` does not read a file if the body begins with @.
    return { command: [...lines, `--data-raw ${shellQuoted(body)}`].join(continued), differs }
  }
  // Only a shell builtin accepts an argument of this length.
  const sent = [...lines, '--data-binary @-'].join(continued)
  return { command: `printf %s ${shellQuoted(body)} | ${sent}`, differs }
}

/** A POSIX shell takes all characters between single quotes literally. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

const continued = ' \\\n  '
/** Linux accepts 128 KiB: MAX_ARG_STRLEN in execve(2). */
const argumentBytesMax = 96 * 1024

function headersFor(protocol: ProtocolName): string[] {
  const type = shellQuoted('content-type: application/json')
  return protocol === 'anthropic-messages'
    ? [type, '"x-api-key: $TOLLGATE_KEY"', shellQuoted('anthropic-version: 2023-06-01')]
    : [type, '"authorization: Bearer $TOLLGATE_KEY"']
}

function differencesOf({ payload }: CurlRequest): string[] {
  if (payload === null) return ['The body is not stored. Write it to request.json.']
  if (payload.capture === 'shape')
    return ['Only the shape of the body is stored. Its texts are placeholders.']
  const { body } = payload
  return [
    ...(body.includes('[REDACTED ') ? ['Secrets in the body are replaced by placeholders.'] : []),
    ...(/…\[\d+ bytes cut\]…/.test(body)
      ? ['Only part of the body is stored. The middle of long texts is missing.']
      : []),
  ]
}
