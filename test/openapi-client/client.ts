import createClient from 'openapi-fetch'
import type { paths } from '../../console/src/api/openapi.ts'

/** A client made from /openapi.json. `authorization`: of each call. */
export function clientOf(baseUrl: string, authorization: string) {
  return createClient<paths>({ baseUrl, headers: { authorization } })
}
