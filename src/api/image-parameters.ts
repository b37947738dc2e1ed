import { GatewayError } from '../canonical/error.ts'
import type { JobState } from '../images/jobs/job.ts'

/** What a client may ask of the list of its jobs. Throws GatewayError `invalid_request` naming the parameter. */
export function jobListParameters(query: Readonly<Record<string, unknown>>): {
  before: string | undefined
  state: JobState | undefined
  /** 1 to 200; default 50. */
  limit: number
} {
  for (const name of Object.keys(query)) {
    if (!names.has(name)) throw wrong(name, `an unknown parameter; expected one of ${[...names].join(', ')}`)
  }
  const { cursor, status, limit = '50' } = query
  if (cursor !== undefined && !uuidv7.test(String(cursor)))
    throw wrong('cursor', 'not next_cursor of the page before')
  const state = states.find((known) => known === status)
  if (status !== undefined && state === undefined) throw wrong('status', `not one of ${states.join(', ')}`)
  if (!/^\d{1,3}$/.test(String(limit)) || Number(limit) < 1 || Number(limit) > 200) {
    throw wrong('limit', 'not a whole number from 1 to 200')
  }
  return { before: cursor === undefined ? undefined : String(cursor), state, limit: Number(limit) }
}

const names: ReadonlySet<string> = new Set(['cursor', 'status', 'limit'])
const states: readonly JobState[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled']
const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

function wrong(name: string, what: string): GatewayError {
  const field = name.slice(0, 64)
  return new GatewayError('invalid_request', `${field}: ${what}`, { field })
}
