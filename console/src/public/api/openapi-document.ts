import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'

/** What we read of an OpenAPI document. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: Record<'schemas' | 'parameters' | 'responses' | 'headers', Record<string, unknown>>
}

export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
}

export interface Parameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema?: JsonSchema
}

interface Content {
  content?: Record<string, { schema?: JsonSchema }>
}

export interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  externalDocs?: { url: string; description?: string }
  security?: Record<string, unknown>[]
  parameters?: Parameter[]
  requestBody?: Content & { required?: boolean }
  responses: Record<string, Content & { $ref?: string; description?: string }>
}

export interface DocumentedEndpoint {
  method: string
  path: string
  operation: Operation
}

export interface EndpointGroup {
  /** In the address. */
  id: string
  title: string
  endpoints: DocumentedEndpoint[]
}

export const openApiQuery = queryOptions({
  queryKey: ['openapi'],
  staleTime: Number.POSITIVE_INFINITY,
  structuralSharing: false,
  refetchOnWindowFocus: false,
  async queryFn({ signal }): Promise<OpenApi> {
    const response = await fetch('/openapi.json', { signal })
    if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => undefined))
    return (await response.json()) as OpenApi
  },
})

/** The endpoints by tag; those of the admin API by what they are about. In the order of the document. */
export function groupsOf({ paths }: OpenApi): EndpointGroup[] {
  const groups = new Map<string, EndpointGroup>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (method === 'parameters') continue
      const tag = operation.tags?.[0] ?? 'other'
      const about = /^\/admin\/v1\/([^/]+)/.exec(path)?.[1]
      const id = tag === 'admin' && about !== undefined ? `admin-${about}` : tag
      const title = tag === 'admin' && about !== undefined ? `Admin: ${inWords(about)}` : titleOf(tag)
      const group = groups.get(id) ?? { id, title, endpoints: [] }
      group.endpoints.push({ method: method.toUpperCase(), path, operation })
      groups.set(id, group)
    }
  }
  return [...groups.values()]
}

const titles: Readonly<Record<string, string>> = {
  chat: 'Chat completions',
  key: 'This key',
  keys: 'Keys of a key',
  public: 'Public catalog',
  usage: 'Usage log',
}

function titleOf(tag: string): string {
  const words = titles[tag] ?? inWords(tag)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function inWords(name: string): string {
  return name.replaceAll('-', ' ')
}

/** What `#/components/schemas/Name` names. */
export function resolved<T extends { $ref?: string; description?: string }>(document: OpenApi, value: T): T {
  const [, , kind = '', name = ''] = value.$ref?.split('/') ?? []
  if (value.$ref === undefined) return value
  const found = document.components[kind as keyof OpenApi['components']]?.[name]
  return { ...(found as T), ...(value.description === undefined ? {} : { description: value.description }) }
}

/** The anchor of an endpoint on its page. */
export function anchorOf({ operation }: DocumentedEndpoint): string {
  return operation.operationId
}
