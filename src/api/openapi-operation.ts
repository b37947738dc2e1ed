import { alertWebhook } from '../alerts/alert-webhook.ts'
import type { Json } from '../canonical/json.ts'
import { imageJob, imageWebhook } from '../images/job-json.ts'
import { type Endpoint, formatAt, type ModelEndpoint } from '../stages/endpoints.ts'
import type { AdminEndpoint } from './admin/endpoint.ts'
import { membersOf, referenceTo } from './json-schemas.ts'
import { limitHeaderRefs, refsTo } from './openapi-components.ts'
import type { OwnEndpoint } from './own-endpoint.ts'

const withKey = [{ bearer: [] }, { apiKey: [] }]
const asAdmin = [{ adminToken: [] }, { session: [] }]
const security = { key: withKey, link: [], admin: asAdmin }

/** An endpoint of the admin API that everybody may call. */
function isOpen(endpoint: OwnEndpoint | AdminEndpoint): boolean {
  return endpoint.guard === 'admin' && endpoint.area === 'open'
}

/** An endpoint that models answer. The format is a vendor's: request and answer are left open. */
export function modelOperation(endpoint: ModelEndpoint): Json {
  const open = { type: 'object', additionalProperties: true }
  const streams = endpoint.kind !== 'plain' || endpoint.writes === true
  return {
    ...headOf(endpoint),
    description: formatOf(endpoint),
    externalDocs: { url: endpoint.reference, description: "The vendor's reference of the format" },
    security: withKey,
    parameters: [{ $ref: '#/components/parameters/idempotency-key' }],
    requestBody: jsonBody({ ...open, properties: { model: { type: 'string' } }, required: ['model'] }),
    responses: {
      200: {
        description: streams ? 'The answer, or its events where `stream` is true.' : 'The answer.',
        headers: { ...refsTo(['x-request-id']), ...limitHeaderRefs },
        content: {
          'application/json': { schema: open },
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
      return "In the vendor's format. A channel that speaks it gets the request unchanged but for the model's name; for any other the request is translated."
    case 'plain':
      return "In the vendor's format. The request goes as it came to a channel that speaks that vendor's format of chats."
    case 'image':
      return "In the vendor's format. The request becomes a job. The answer comes when the images are made; with `prefer: respond-async`, or after IMAGE_WAIT_MS, it is the job."
  }
}

const accepted: Json = {
  description:
    'The job continues. While the database is down, only `id`, `object`, `status` and `model` are known.',
  headers: { ...refsTo(['x-request-id', 'retry-after']), ...limitHeaderRefs },
  content: { 'application/json': { schema: { anyOf: [referenceTo(imageJob), { type: 'object' }] } } },
}

/** What we call: the address that a request for images gives. */
export const webhooks: Json = {
  'image.generation': {
    post: {
      operationId: 'imageGenerationEnded',
      security: [],
      summary: 'The end of an image job, for the address in `x-tollgate-webhook` of its request',
      description: 'Signed as the Standard Webhooks say. It may come twice: `webhook-id` is then the same.',
      externalDocs: { url: 'https://www.standardwebhooks.com' },
      requestBody: jsonBody(referenceTo(imageWebhook)),
      responses: {
        '2XX': { description: 'Taken. Anything else is tried again later.' },
        410: { description: 'No more of them are wanted: it is not tried again.' },
      },
    },
  },
  alert: {
    post: {
      operationId: 'alertChanged',
      security: [],
      summary: 'An episode of an alert has opened or closed, for the webhook of its rule',
      description:
        'Signed as the Standard Webhooks say, with the secret of the rule. It may come twice: `webhook-id` is then the same.',
      externalDocs: { url: 'https://www.standardwebhooks.com' },
      requestBody: jsonBody(referenceTo(alertWebhook)),
      responses: {
        '2XX': { description: 'Taken. Anything else is tried again later.' },
        410: { description: 'No more of them are wanted: it is not tried again.' },
      },
    },
  },
}

/** An endpoint of our own. */
export function ownOperation(endpoint: OwnEndpoint | AdminEndpoint): Json {
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
function headersOf(endpoint: OwnEndpoint | AdminEndpoint): string[] {
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

/** The shape follows the path; where the path has no format, the header `anthropic-version` decides. */
function errorOf({ path }: Endpoint): Json {
  const [plain, versioned] = [{}, { 'anthropic-version': '2023-06-01' }].map(
    (sent) => formatAt(path, sent).protocol === 'anthropic-messages',
  )
  return errorNamed(plain === versioned ? (plain ? 'MessagesError' : 'OpenaiError') : 'AnyError')
}

function errorNamed(name: 'Problem' | 'OpenaiError' | 'MessagesError' | 'AnyError'): Json {
  return { $ref: `#/components/responses/${name}` }
}
