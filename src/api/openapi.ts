import type { IncomingMessage, ServerResponse } from 'node:http'
import packageJson from '../../package.json' with { type: 'json' }
import type { Json } from '../canonical/json.ts'
import { cutWhenStalled, isWaitedFor } from '../http/stalled-client.ts'
import type { ModelEndpoint } from '../pipeline/endpoints.ts'
import type { ApiEndpoint } from './dispatch.ts'
import { idOf, namedSchemas } from './json-schemas.ts'
import { errorResponses, headers, parameters, securitySchemes } from './openapi-components.ts'
import { modelOperation, ownOperation, webhooks } from './openapi-operation.ts'

/** The input for the document. */
export interface Surface {
  models: readonly ModelEndpoint[]
  own: readonly ApiEndpoint[]
  /** The URL at which clients reach us. If undefined, the URL from which the document was fetched. */
  publicUrl: string | undefined
}

/**
 * Serves `GET /openapi.json` to everyone, without a row in the usage log. The document is built on the first
 * request.
 */
export function openapi(surface: Surface, stallMs: number) {
  let bytes: Buffer | undefined
  return (_request: IncomingMessage, response: ServerResponse): void => {
    bytes ??= Buffer.from(JSON.stringify(openapiDocument(surface)))
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': bytes.length,
    })
    response.end(bytes)
    if (isWaitedFor(response)) cutWhenStalled(response, stallMs)
  }
}

/** Describes every endpoint in OpenAPI 3.1. https://spec.openapis.org/oas/v3.1.1.html */
export function openapiDocument({ models, own, publicUrl }: Surface): Json {
  const paths: Record<string, Json> = {}
  const add = ({ method, path }: { method: string; path: string }, operation: Json) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const endpoint of models) add(endpoint, modelOperation(endpoint))
  for (const endpoint of own) add(endpoint, ownOperation(endpoint))
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tollgate',
      version: packageJson.version,
      description: packageJson.description,
      license: { name: packageJson.license, identifier: packageJson.license },
    },
    ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl.replace(/\/+$/, '') }] }),
    paths,
    webhooks,
    components: {
      securitySchemes,
      headers,
      parameters,
      responses: errorResponses(),
      schemas: schemasOf(own),
    },
  }
}

/**
 * Bodies are described in the form that clients send, everything else in the form that they receive. Sorted
 * by name, because the order in the registry depends on the order in which modules were loaded.
 */
function schemasOf(own: Surface['own']): Json {
  const sent = namedSchemas('input')
  const bodies = own.flatMap(({ body }) => (body === undefined ? [] : [idOf(body)]))
  const schemas = { ...namedSchemas('output'), ...Object.fromEntries(bodies.map((id) => [id, sent[id]])) }
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
}
