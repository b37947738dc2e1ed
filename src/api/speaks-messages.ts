import type { Identified } from '../stages/identify.ts'

/** The version header of the Messages format selects that vendor's response format. */
export function speaksMessages({ request }: Pick<Identified, 'request'>): boolean {
  return request.headers['anthropic-version'] !== undefined
}
