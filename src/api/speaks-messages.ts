import type { Identified } from '../pipeline/identify.ts'

/** The version header of the Messages format selects that vendor's response format. */
export function speaksMessages({ exchange }: Pick<Identified, 'exchange'>): boolean {
  return exchange.headers['anthropic-version'] !== undefined
}
