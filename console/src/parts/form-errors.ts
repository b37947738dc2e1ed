import { ApiError } from '../api/client.ts'

/**
 * The errors of an answer by the fields of a form, for `form.setErrors`: `#/limits/concurrency` becomes
 * `limits.concurrency`. What belongs to no field is in the `Problem` of the form.
 */
export function formErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  return Object.fromEntries(
    error.fields.map(({ pointer, detail }) => [
      pointer
        .replace(/^#\//, '')
        .split('/')
        .map((part) => decodeURIComponent(part).replace(/~1/g, '/').replace(/~0/g, '~'))
        .join('.'),
      detail,
    ]),
  )
}
