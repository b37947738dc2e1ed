import { type FileEntry, type OwnFile, placeOfEntry } from '../../access/gateway-file-lines.ts'
import { readFileInForce } from '../../access/gateway-file-queries.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { conflict } from './refusals.ts'

export interface ManagedContext {
  /** The gateway.yaml of this process; undefined: it has none. */
  gatewayFile: { readonly own: OwnFile } | undefined
}

/**
 * Throws `conflict` where gateway.yaml manages the row: the next time that the file is applied it would undo
 * the change. The message names the file and, where this process reads it, the line of the entry.
 */
export async function refuseManaged(
  tx: TypedTransaction,
  { gatewayFile }: ManagedContext,
  { managedBy }: { managedBy: 'file' | 'admin' },
  entry: FileEntry,
): Promise<void> {
  if (managedBy !== 'file') return
  const place = await placeOfEntry(await readFileInForce(tx), gatewayFile?.own, entry)
  const what = entry.kind === 'prices' ? 'the prices' : `${entry.kind} "${entry.name}"`
  throw conflict(`${place} manages ${what}: change it there.`, undefined, 'managed_elsewhere')
}
