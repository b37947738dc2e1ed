import { z } from 'zod'
import type { Json } from '../canonical/json.ts'
import { problem, problemMedia } from './admin/problem.ts'
import { idOf, referenceTo } from './json-schemas.ts'

/** The parts that operations share: authentication, headers, and the key of repeats. */

export const securitySchemes: Json = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same API key.' },
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token of the admin API, or ADMIN_TOKEN of the environment.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-tollgate',
    description: 'The session of a user. Over plain HTTP its name is `tollgate`.',
  },
}

const text = { type: 'string' }

const limitHeaders = Object.fromEntries(
  (['requests', 'tokens'] as const).flatMap((what): [string, Json][] => [
    [`x-ratelimit-limit-${what}`, header(`Where the ${what} per minute are limited: how many are allowed.`)],
    [`x-ratelimit-remaining-${what}`, header(`How many ${what} are left of them.`)],
    [`x-ratelimit-reset-${what}`, header('When all are left again, such as `1.2s` or `1m2s`.')],
  ]),
)

export const headers: Json = {
  'x-request-id': header("The request's id, as the usage log has it."),
  'retry-after': header('After how many seconds the same request may succeed.'),
  ...limitHeaders,
}

/** Clients of the Messages format get that vendor's names of these headers instead. */
export const limitHeaderRefs = refsTo(Object.keys(limitHeaders))

export const parameters: Json = {
  'idempotency-key': {
    name: 'idempotency-key',
    in: 'header',
    description:
      'A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'if-match': {
    name: 'if-match',
    in: 'header',
    description: 'Change the resource only if it still has this ETag; else the answer is 412.',
    schema: text,
  },
  'if-none-match': {
    name: 'if-none-match',
    in: 'header',
    description: 'An ETag that the client knows: where the answer still has it, it is 304 without a body.',
    schema: text,
  },
}

const message = z.string().describe('What is wrong, and what to change.')

/** The error of OpenAI's formats, and of paths that have no format. */
export const openaiError = z
  .object({
    error: z.object({
      message,
      type: z.string(),
      param: z.string().nullable().describe('The field that is wrong.'),
      code: z.string().nullable().describe('A word that software may act on.'),
      request_id: z
        .string()
        .optional()
        .describe('The id of the row, as in x-request-id: not every client shows headers.'),
    }),
  })
  .meta({ id: 'OpenaiError' })

/** The error of the Messages format. */
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

/** The answers with an error. */
export function errorResponses(): Json {
  const named = [openaiError, messagesError, anyError].map((schema) => [
    idOf(schema),
    {
      description: 'Refused or failed.',
      headers: { ...refsTo(['x-request-id', 'retry-after']), ...limitHeaderRefs },
      content: { 'application/json': { schema: referenceTo(schema) } },
    },
  ])
  return {
    ...Object.fromEntries(named),
    Problem: {
      description: 'Refused or failed.',
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
