import { z } from 'zod'
import type { GatewayError } from '../../canonical/error.ts'
import type { ErrorKind } from '../../canonical/reasons/kinds.ts'

/** An error of the admin API in the problem details format. https://www.rfc-editor.org/rfc/rfc9457.html */
export const problem = z
  .object({
    type: z.string().describe('`urn:tollgate:problem:` followed by `code`.'),
    title: z.string().describe('The kind of problem, in a few words.'),
    status: z.int(),
    code: z.string().describe('A stable code for programs to act on.'),
    detail: z.string().describe('What is wrong and what to change.'),
    instance: z.string().describe('`urn:uuid:` followed by the `x-request-id`.'),
    errors: z
      .array(
        z.object({
          pointer: z.string().describe('The position in the body, as a JSON pointer in a URI fragment.'),
          detail: z.string(),
        }),
      )
      .optional()
      .describe('The invalid fields.'),
  })
  .meta({ id: 'Problem' })

export const problemMedia = 'application/problem+json'

interface Meaning {
  status: number
  title: string
}

/** Codes from `refusals.ts` that are more specific than the kind. */
const ofCode: Readonly<Record<string, Meaning>> = {
  conflict: { status: 409, title: 'Conflict with the current state' },
  second_factor_required: { status: 401, title: 'Second-factor code required' },
  precondition_failed: { status: 412, title: 'Changed since it was read' },
}

const ofKind: Readonly<Partial<Record<ErrorKind, Meaning>>> = {
  invalid_request: { status: 400, title: 'Invalid request' },
  unsupported_parameter: { status: 400, title: 'Not supported' },
  unauthenticated: { status: 401, title: 'Not signed in' },
  permission_denied: { status: 403, title: 'Not allowed' },
  insufficient_credit: { status: 402, title: 'Not enough credit' },
  unknown_path: { status: 404, title: 'Not found' },
  model_not_found: { status: 404, title: 'Not found' },
  endpoint_not_supported: { status: 400, title: 'Not supported' },
  request_too_large: { status: 413, title: 'Request too large' },
  request_in_progress: { status: 409, title: 'Request in progress' },
  idempotency_mismatch: { status: 422, title: 'Idempotency-Key used for another call' },
  rate_limited: { status: 429, title: 'Too many requests' },
  upstream_error: { status: 502, title: 'The upstream failed' },
  upstream_overloaded: { status: 503, title: 'The upstream is overloaded' },
  upstream_timeout: { status: 504, title: 'The upstream did not answer' },
  content_filtered: { status: 400, title: 'Content filtered' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
}

const unforeseen: Meaning = { status: 500, title: 'Internal error of the gateway' }

export interface Rendered {
  status: number
  headers: Record<string, string>
  body: z.output<typeof problem>
}

/** Returns the response to a refused or failed call. */
export function problemOf(error: GatewayError, requestId: string): Rendered {
  const { reason, kind, code, field, message, retryAfterSeconds } = error
  const meaning = ofCode[code ?? ''] ?? ofKind[kind] ?? unforeseen
  const shown = code !== undefined && code in ofCode ? code : kind
  const detail =
    field !== undefined && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message
  return {
    status: meaning.status,
    headers: {
      'content-type': problemMedia,
      'x-tollgate-reason': reason,
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(kind === 'unauthenticated' ? { 'www-authenticate': 'Bearer realm="Tollgate admin"' } : {}),
    },
    body: {
      type: `urn:tollgate:problem:${shown}`,
      title: meaning.title,
      status: meaning.status,
      code: shown,
      detail: message,
      instance: `urn:uuid:${requestId}`,
      ...(field === undefined ? {} : { errors: [{ pointer: pointerOf(field), detail }] }),
    },
  }
}

/** `limits[2].name` -> `#/limits/2/name`. https://www.rfc-editor.org/rfc/rfc6901#section-6 */
function pointerOf(field: string): string {
  const parts = field.split(/[.[\]]+/).filter((part) => part !== '')
  return `#/${parts.map((part) => encodeURIComponent(part.replace(/~/g, '~0'))).join('/')}`
}
