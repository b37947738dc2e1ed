import { alertWebhook } from '../alerts/alert-webhook.ts'
import type { Json } from '../canonical/json.ts'
import { imageJob, imageWebhook } from '../images/job-json.ts'
import { type Endpoint, formatAt, type ModelEndpoint } from '../pipeline/endpoints.ts'
import type { ApiEndpoint } from './dispatch.ts'
import { membersOf, referenceTo } from './json-schemas.ts'
import { limitHeaderRefs, refsTo } from './openapi-components.ts'

const withKey = [{ bearer: [] }, { apiKey: [] }]
const asAdmin = [{ adminToken: [] }, { session: [] }]
const security = { key: withKey, link: [], admin: asAdmin }

/** Whether this is an endpoint of the admin API that everyone can call. */
function isOpen(endpoint: ApiEndpoint): boolean {
  return endpoint.guard === 'admin' && endpoint.area === 'open'
}

/**
 * Describes an endpoint that models answer. The format is a vendor's, so the schemas of requests and
 * responses are left open.
 */
export function modelOperation(endpoint: ModelEndpoint): Json {
  const open = { type: 'object', additionalProperties: true }
  const media = (endpoint.kind === 'plain' && endpoint.answers) || 'application/json'
  const isJson = media === 'application/json'
  const streams = endpoint.kind !== 'plain' || endpoint.writes === true || !isJson
  const flag = isJson ? '`stream` is true' : '`stream_format` is `sse`'
  return {
    ...headOf(endpoint),
    description: formatOf(endpoint),
    externalDocs: {
      url: endpoint.reference,
      description: "The vendor's reference documentation of the format",
    },
    security: withKey,
    parameters: [{ $ref: '#/components/parameters/idempotency-key' }],
    requestBody: jsonBody({ ...open, properties: { model: { type: 'string' } }, required: ['model'] }),
    responses: {
      200: {
        description: streams ? `The answer, or its events if ${flag}.` : 'The answer.',
        headers: { ...refsTo(['x-request-id']), ...limitHeaderRefs },
        content: {
          [media]: { schema: isJson ? open : { type: 'string', format: 'binary' } },
          ...(streams ? { 'text/event-stream': { schema: { type: 'string' } } } : {}),
        },
      },
      ...(endpoint.kind === 'image' ? { 202: accepted } : {}),
      default: errorOf(endpoint),
    },
  }
}

function formatOf(endpoint: ModelEndpoint): string {
  switch (endpoint.kind) {
    case 'text':
      return "In the vendor's format. A channel that speaks it receives the request unchanged, except for the name of the model. For all other channels the request is translated."
    case 'plain':
      return "In the vendor's format. The request is passed on unchanged to a channel that speaks the vendor's chat format."
    case 'image':
      return "In the vendor's format. The request becomes a job, and the response is sent when the images are ready. With `prefer: respond-async`, or after IMAGE_WAIT_MS, the response is the job instead."
  }
}

const accepted: Json = {
  description:
    'The job is still running. While the database is down, only `id`, `object`, `status` and `model` are known.',
  headers: { ...refsTo(['x-request-id', 'retry-after']), ...limitHeaderRefs },
  content: { 'application/json': { schema: { anyOf: [referenceTo(imageJob), { type: 'object' }] } } },
}

/** The webhooks that we call, at the address given with an image request or an alert rule. */
export const webhooks: Json = {
  'image.generation': {
    post: {
      operationId: 'imageGenerationEnded',
      security: [],
      summary: 'Sent when an image job ends, to the address in `x-tollgate-webhook` of its request',
      description:
        'Signed according to Standard Webhooks. It may be delivered more than once, with the same `webhook-id`.',
      externalDocs: { url: 'https://www.standardwebhooks.com' },
      requestBody: jsonBody(referenceTo(imageWebhook)),
      responses: {
        '2XX': { description: 'Accepted. After any other status the delivery is retried later.' },
        410: { description: 'The receiver wants no more deliveries, so this one is not retried.' },
      },
    },
  },
  alert: {
    post: {
      operationId: 'alertChanged',
      security: [],
      summary: 'Sent when an alert episode opens or closes, to the webhook of its rule',
      description:
        'Signed according to Standard Webhooks with the secret of the rule. It may be delivered more than once, with the same `webhook-id`.',
      externalDocs: { url: 'https://www.standardwebhooks.com' },
      requestBody: jsonBody(referenceTo(alertWebhook)),
      responses: {
        '2XX': { description: 'Accepted. After any other status the delivery is retried later.' },
        410: { description: 'The receiver wants no more deliveries, so this one is not retried.' },
      },
    },
  },
}

/** Describes an endpoint of our own. */
export function ownOperation(endpoint: ApiEndpoint): Json {
  const { guard, description, params, query, body, answer, statuses = [200] } = endpoint
  const media = endpoint.media ?? 'application/json'
  const parameters = [
    ...membersOf(params).map((member) => ({ ...parameterOf(member), in: 'path', required: true })),
    ...membersOf(query).map((member) => ({ ...parameterOf(member), in: 'query' })),
    ...headersOf(endpoint).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
  const good = {
    description: endpoint.summary,
    headers: { ...refsTo(['x-request-id']), ...(guard === 'key' ? limitHeaderRefs : {}) },
    content: { [media]: answer === undefined ? {} : { schema: referenceTo(answer) } },
  }
  return {
    ...headOf(endpoint),
    ...(description === undefined ? {} : { description }),
    security: isOpen(endpoint) ? [] : security[guard],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: jsonBody(referenceTo(body)) }),
    ...(endpoint.form === undefined ? {} : { requestBody: formOf(referenceTo(endpoint.form)) }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, good])),
      default: guard === 'admin' ? errorNamed('Problem') : errorOf(endpoint),
    },
  }
}

/** The headers that the endpoint reads. */
function headersOf(endpoint: ApiEndpoint): string[] {
  if (endpoint.guard !== 'admin') return []
  if (endpoint.method === 'GET') return ['if-none-match']
  if (endpoint.change === undefined) return []
  return endpoint.ifMatch === undefined ? ['idempotency-key'] : ['idempotency-key', 'if-match']
}

function parameterOf({ name, required, schema }: ReturnType<typeof membersOf>[number]): Json {
  const { description, ...rest } = schema
  return { name, required, schema: rest, ...(description === undefined ? {} : { description }) }
}

function jsonBody(schema: Json): Json {
  return { required: true, content: { 'application/json': { schema } } }
}

function formOf(schema: Json): Json {
  return { required: true, content: { 'multipart/form-data': { schema } } }
}

function headOf({ method, path, summary }: Endpoint): Json {
  const [, first = '', second = ''] = path.split('/')
  return { operationId: operationIdOf(method, path), summary, tags: [first === 'v1' ? second : first] }
}

/** `GET /v1/usage/requests/{id}` -> `getUsageRequestsById` */
function operationIdOf(method: string, path: string): string {
  const words = path
    .replace(/^\/v1/, '')
    .replace(/\{(\w+)\}/g, 'by-$1')
    .split(/[^a-z]+/)
  return method.toLowerCase() + words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}

/** The format follows from the path. If the path has no format, the header `anthropic-version` decides. */
function errorOf({ path }: Endpoint): Json {
  const [plain, versioned] = [{}, { 'anthropic-version': '2023-06-01' }].map(
    (sent) => formatAt(path, sent).protocol === 'anthropic-messages',
  )
  return errorNamed(plain === versioned ? (plain ? 'MessagesError' : 'OpenaiError') : 'AnyError')
}

function errorNamed(name: 'Problem' | 'OpenaiError' | 'MessagesError' | 'AnyError'): Json {
  return { $ref: `#/components/responses/${name}` }
}
