import { z } from 'zod'
import type { GatewayError } from '../../canonical/error.ts'
import type { ErrorKind } from '../../canonical/reasons/kinds.ts'

/** An error of the admin API: problem details. https://www.rfc-editor.org/rfc/rfc9457.html */
export const problem = z
  .object({
    type: z.string().describe('`urn:tollgate:problem:` and `code`.'),
    title: z.string().describe('The kind of problem, in a few words.'),
    status: z.int(),
    code: z.string().describe('A word that software may act on.'),
    detail: z.string().describe('What is wrong, and what to change.'),
    instance: z.string().describe('`urn:uuid:` and the `x-request-id`.'),
    errors: z
      .array(
        z.object({
          pointer: z.string().describe('Where in the body: a JSON pointer as a URI fragment.'),
          detail: z.string(),
        }),
      )
      .optional()
      .describe('The wrong fields.'),
  })
  .meta({ id: 'Problem' })

export const problemMedia = 'application/problem+json'

interface Meaning {
  status: number
  title: string
}

/** Codes of `refusals.ts` that say more than the kind. */
const ofCode: Readonly<Record<string, Meaning>> = {
  conflict: { status: 409, title: 'Conflicts with the current state' },
  second_factor_required: { status: 401, title: 'A code of the second factor is needed' },
  precondition_failed: { status: 412, title: 'Changed since it was read' },
}

const ofKind: Readonly<Partial<Record<ErrorKind, Meaning>>> = {
  invalid_request: { status: 400, title: 'Not valid' },
  unsupported_parameter: { status: 400, title: 'Not supported' },
  unauthenticated: { status: 401, title: 'Not signed in' },
  permission_denied: { status: 403, title: 'Not allowed' },
  insufficient_credit: { status: 402, title: 'Not enough credit' },
  unknown_path: { status: 404, title: 'Not found' },
  model_not_found: { status: 404, title: 'Not found' },
  endpoint_not_supported: { status: 400, title: 'Not supported' },
  request_too_large: { status: 413, title: 'Too large' },
  request_in_progress: { status: 409, title: 'In progress' },
  idempotency_mismatch: { status: 422, title: 'Another call had this Idempotency-Key' },
  rate_limited: { status: 429, title: 'Too many' },
  upstream_error: { status: 502, title: 'The upstream failed' },
  upstream_overloaded: { status: 503, title: 'The upstream is overloaded' },
  upstream_timeout: { status: 504, title: 'The upstream did not answer' },
  content_filtered: { status: 400, title: 'Filtered' },
  unavailable: { status: 503, title: 'Not available now' },
}

const unforeseen: Meaning = { status: 500, title: 'A fault of this gateway' }

export interface Rendered {
  status: number
  headers: Record<string, string>
  body: z.output<typeof problem>
}

/** The answer to a refused or failed call. */
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
