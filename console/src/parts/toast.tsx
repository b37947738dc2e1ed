import { notifications } from '@mantine/notifications'
import { ApiError } from '../api/client.ts'

/** Says that something is done: "Key ci is revoked". */
export function done(message: string): void {
  notifications.show({ message, color: 'accent', autoClose: 4_000 })
}

/** Says what was not done, why, and the id of the call. It stays until it is closed. `what`: "The revocation". */
export function fails(what: string, error: unknown): void {
  const detail = error instanceof Error ? error.message : String(error)
  const id = error instanceof ApiError && error.requestId !== undefined ? ` (request ${error.requestId})` : ''
  notifications.show({ title: `${what} failed`, message: `${detail}${id}`, color: 'red', autoClose: false })
}
