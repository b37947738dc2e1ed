import type { CopyBuffer } from './copy-buffer.ts'
import { uuidText } from './tuple.ts'

/**
 * Running requests in Postgres, of processes with DURABILITY=postgres. The shipment writes and deletes them with the rows
 * of its batch, so they are the requests that are open behind its position.
 */
export const openRequestColumns = ['instance_id', 'request_id', 'half']

/** Append a running request. `id`: 16 latin1 characters. */
export function addOpenRequest({ out }: CopyBuffer, instanceId: string, id: string, half: Buffer): void {
  out.begin(openRequestColumns.length)
  out.uuid(instanceId)
  out.uuidOf(Buffer.from(id, 'latin1'), 0)
  out.bytes(half)
}

/** Delete requests that have ended, by ids of 16 latin1 characters; undefined: there is none. */
export function endOpenRequests(
  instanceId: string,
  ended: readonly string[],
): { text: string; values: unknown[] } | undefined {
  if (ended.length === 0) return undefined
  return {
    text: 'DELETE FROM open_requests WHERE instance_id = $1 AND request_id = ANY ($2::uuid[])',
    values: [instanceId, ended.map((id) => uuidText(Buffer.from(id, 'latin1')))],
  }
}
