import { recordsOf, textOf } from '../../canonical/json.ts'
import { errorDecoder } from '../upstream-errors.ts'

/**
 * Gemini returns 400 for an invalid key and for an account without billing. The `type` used here is the
 * vendor's `status`, such as `INVALID_ARGUMENT`, together with the reasons in `details`.
 *
 * https://ai.google.dev/gemini-api/docs/troubleshooting, read 2026-11-21
 */
const credentialRefused = [
  { words: /^FAILED_PRECONDITION\b|(?<= )(API_KEY|BILLING|SERVICE_DISABLED)/, means: 'credential_refused' },
  { message: /API key not valid|API key expired/i, means: 'credential_refused' },
] as const

export const { decodeError, decodeStreamError } = errorDecoder({
  read({ status, details: given }) {
    const details = recordsOf(given)
    return {
      type: [textOf(status) ?? '', ...details.map(({ reason }) => textOf(reason))].join(' '),
      retryAfterSeconds: details
        .map(({ retryDelay }) => readDelay(retryDelay))
        .find((delay) => delay !== undefined),
    }
  },
  refusals: [...credentialRefused, { status: [404], means: 'model_not_found' }],
  failures: [
    ...credentialRefused,
    { words: /^RESOURCE_EXHAUSTED\b/, means: 'rate_limited' },
    { words: /^UNAVAILABLE\b/, means: 'upstream_overloaded' },
    { words: /^DEADLINE_EXCEEDED\b/, means: 'upstream_timeout' },
  ],
  contextTooLong: /input token count.*exceeds the maximum/i,
})

const retryAfterSecondsMax = 24 * 60 * 60

/** The whole seconds of a duration such as `34.4s`. */
function readDelay(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(value)?.[1] : undefined
  if (seconds === undefined) return undefined
  return Math.min(Math.max(Math.ceil(Number(seconds)), 1), retryAfterSecondsMax)
}
