import { APIError } from 'openai'

/** The header that names why a call of the vendor's SDK was refused. */
export function reasonOf(error: unknown): string | null | undefined {
  return error instanceof APIError ? error.headers?.get('x-tollgate-reason') : undefined
}
