import type { Identified } from '../stages/identify.ts'

/** The version header of the Messages format asks for that vendor's shape. */
export function speaksMessages({ request }: Pick<Identified, 'request'>): boolean {
  return request.headers['anthropic-version'] !== undefined
}
