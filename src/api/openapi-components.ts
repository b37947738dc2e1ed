import { z } from 'zod'
import type { Json } from '../canonical/json.ts'
import { problem, problemMedia } from './admin/problem.ts'
import { idOf, referenceTo } from './json-schemas.ts'

/** The parts that operations share: authentication, headers and the idempotency key. */

export const securitySchemes: Json = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The API key.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same API key.' },
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token for the admin API, or the value of ADMIN_TOKEN.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-tollgate',
    description: 'The session cookie of a user. Over plain HTTP its name is `tollgate`.',
  },
}

const text = { type: 'string' }

const limitHeaders = Object.fromEntries(
  (['requests', 'tokens'] as const).flatMap((what): [string, Json][] => [
    [`x-ratelimit-limit-${what}`, header(`The maximum number of ${what} per minute, if they are limited.`)],
    [`x-ratelimit-remaining-${what}`, header(`The number of ${what} that are left.`)],
    [
      `x-ratelimit-reset-${what}`,
      header('The time until the full limit is available again, for example `1.2s` or `1m2s`.'),
    ],
  ]),
)

export const headers: Json = {
  'x-request-id': header('The id of the request in the usage log.'),
  'retry-after': header('The number of seconds after which the same request may succeed.'),
  ...limitHeaders,
}

/** Clients of the Messages format receive these headers under that vendor's names. */
export const limitHeaderRefs = refsTo(Object.keys(limitHeaders))

export const parameters: Json = {
  'idempotency-key': {
    name: 'idempotency-key',
    in: 'header',
    description:
      'A repeated request with the same key receives the response to the first request. 1 to 255 visible ASCII characters.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'if-match': {
    name: 'if-match',
    in: 'header',
    description: 'The resource is changed only if it still has this ETag. Otherwise the response is 412.',
    schema: text,
  },
  'if-none-match': {
    name: 'if-none-match',
    in: 'header',
    description:
      'The ETag that the client last received. If it has not changed, the response is 304 without a body.',
    schema: text,
  },
}

const message = z.string().describe('What is wrong and what to change.')

/** The error in OpenAI's formats, and at paths without a format. */
export const openaiError = z
  .object({
    error: z.object({
      message,
      type: z.string(),
      param: z.string().nullable().describe('The field that is invalid.'),
      code: z.string().nullable().describe('A stable code for programs to act on.'),
      request_id: z
        .string()
        .optional()
        .describe('The id of the request, as in x-request-id, for clients that do not show headers.'),
    }),
  })
  .meta({ id: 'OpenaiError' })

/** The error in the Messages format. */
export const messagesError = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      message,
      details: z.object({ error_code: z.string() }).optional(),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'MessagesError' })

const anyError = z.union([openaiError, messagesError]).meta({ id: 'AnyError' })

/** Returns the error responses. */
export function errorResponses(): Json {
  const named = [openaiError, messagesError, anyError].map((schema) => [
    idOf(schema),
    {
      description: 'The request was refused or failed.',
      headers: { ...refsTo(['x-request-id', 'retry-after']), ...limitHeaderRefs },
      content: { 'application/json': { schema: referenceTo(schema) } },
    },
  ])
  return {
    ...Object.fromEntries(named),
    Problem: {
      description: 'The request was refused or failed.',
      headers: refsTo(['x-request-id', 'retry-after']),
      content: { [problemMedia]: { schema: referenceTo(problem) } },
    },
  }
}

export function refsTo(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function header(description: string): Json {
  return { description, schema: text }
}
