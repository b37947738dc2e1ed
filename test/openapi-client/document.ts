import { apiEndpoints } from '../../src/api/endpoints.ts'
import { openapiDocument } from '../../src/api/openapi.ts'
import { modelEndpoints } from '../../src/pipeline/endpoints.ts'
import { unused } from '../support/unused.ts'

/** What a gateway without PUBLIC_URL answers to GET /openapi.json, without one. */
export function documentWithoutGateway(): string {
  const own = apiEndpoints(unused as Parameters<typeof apiEndpoints>[0])
  return JSON.stringify(openapiDocument({ models: modelEndpoints, own, publicUrl: undefined }))
}
