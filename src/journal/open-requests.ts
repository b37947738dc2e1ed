import type { CopyBuffer } from './copy-buffer.ts'
import { uuidText } from './tuple.ts'

/**
 * The running requests of processes with DURABILITY=postgres, stored in Postgres. The shipment inserts and
 * deletes them together with the rows of its batch, so they are the requests that are open after its
 * position.
 */
export const openRequestColumns = ['instance_id', 'request_id', 'half']

/** Appends a running request. `id` consists of 16 latin1 characters. */
export function addOpenRequest({ out }: CopyBuffer, instanceId: string, id: string, half: Buffer): void {
  out.begin(openRequestColumns.length)
  out.uuid(instanceId)
  out.uuidOf(Buffer.from(id, 'latin1'), 0)
  out.bytes(half)
}

/**
 * The statement that deletes requests which have ended, by ids of 16 latin1 characters; empty if there are
 * none.
 */
export function endOpenRequests(instanceId: string, ended: readonly string[]): string[] {
  if (ended.length === 0) return []
  const ids = ended.map((id) => uuidText(Buffer.from(id, 'latin1')))
  return [
    `DELETE FROM open_requests WHERE instance_id = '${instanceId}' AND request_id = ANY ('{${ids}}'::uuid[])`,
  ]
}
