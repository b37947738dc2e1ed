import type { Actor } from '../../access/actor.ts'
import { type FileEntry, type OwnFile, placeOfEntry } from '../../access/gateway-file-lines.ts'
import { readFileInForce } from '../../access/gateway-file-queries.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { conflict } from './refusals.ts'

export interface ManagedContext {
  /** The gateway.yaml of this process; undefined if it has none. */
  gatewayFile: { readonly own: OwnFile } | undefined
}

/**
 * Throws `conflict` if gateway.yaml manages the row, because applying the file again would undo the change.
 * The message names the file and, if this process reads it, the line of the entry; to a member of a tenant,
 * who cannot change the file, it names neither.
 */
export async function refuseManaged(
  tx: TypedTransaction,
  { gatewayFile }: ManagedContext,
  { managedBy }: { managedBy: 'file' | 'admin' },
  entry: FileEntry,
  { tenantId }: Pick<Actor, 'tenantId'> = { tenantId: null },
): Promise<void> {
  if (managedBy !== 'file') return
  if (tenantId !== null && entry.kind === 'key')
    throw conflict(
      `key "${entry.name}" is managed by the operator of this gateway. You can block it; ask an admin for any other change.`,
      undefined,
      'managed_elsewhere',
    )
  const place = await placeOfEntry(await readFileInForce(tx), gatewayFile?.own, entry)
  const what = entry.kind === 'prices' ? 'the prices' : `${entry.kind} "${entry.name}"`
  throw conflict(`${what} is managed by ${place}. Change it there.`, undefined, 'managed_elsewhere')
}
