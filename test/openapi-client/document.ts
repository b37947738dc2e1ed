import { adminEndpoints } from '../../src/api/admin/endpoints.ts'
import { openapiDocument } from '../../src/api/openapi.ts'
import { ownEndpoints } from '../../src/api/own-endpoints.ts'
import { modelEndpoints } from '../../src/pipeline/endpoints.ts'
import { unused } from '../support/unused.ts'

/** What a gateway without PUBLIC_URL answers to GET /openapi.json, without one. */
export function documentWithoutGateway(): string {
  const own = ownEndpoints(unused as Parameters<typeof ownEndpoints>[0])
  const admin = adminEndpoints(unused as Parameters<typeof adminEndpoints>[0])
  return JSON.stringify(
    openapiDocument({ models: modelEndpoints, own: [...own, ...admin], publicUrl: undefined }),
  )
}
