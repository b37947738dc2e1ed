import { applyCatalog } from '../catalog/apply.ts'
import { countsOf, type FileChanges, type FileNames, shownNames } from '../catalog/file-changes.ts'
import type { GatewayFile } from '../catalog/gateway-file.ts'
import type { GatewaySource } from '../catalog/gateway-source.ts'
import { changeRows, holdCharges, type Transaction } from '../catalog/queries.ts'
import type { Connections } from '../db/connections.ts'
import { isUnknownName, reasonOf } from '../db/failures.ts'
import type { SecretKeeper } from '../secret-key.ts'
import { applyTenants, type GeneratedKey } from './apply-tenants.ts'
import { writeAudit } from './audit-queries.ts'
import { type FileInForce, noteFileInForce, readFileInForce } from './gateway-file-queries.ts'

/** What became of a gateway.yaml. */
export type FileOutcome =
  /** It is in force already, and no row has changed since. */
  | { kind: 'unchanged'; revision: number | undefined }
  /** Another file has a higher revision, and stays in force. */
  | { kind: 'lower'; revision: number | undefined; inForce: FileInForce }
  | {
      kind: 'applied'
      revision: number | undefined
      changes: FileChanges
      /** This is the only chance to show their secrets. */
      generated: GeneratedKey[]
      /** The other file that was in force. */
      replaced: FileInForce | undefined
    }

/**
 * Check a gateway.yaml before the database is migrated for it. A file that is in force was checked already. Throws an Error
 * with a line for each problem.
 */
export async function checkGatewayFile(
  { db }: Pick<Connections, 'db'>,
  source: GatewaySource,
  keeper: SecretKeeper,
): Promise<void> {
  const inForce = await readFileInForce(db).catch((error: unknown) => {
    if (isUnknownName(reasonOf(error))) return undefined
    throw error
  })
  if (inForce?.hash.equals(source.hashWith(keeper.fileKey)) !== true) source.parse()
}

/** Write a gateway.yaml into the database, in one transaction, unless it is in force already or another has a higher revision. */
export function applyGatewayFile(
  connections: Pick<Connections, 'db'>,
  source: GatewaySource,
  keeper: SecretKeeper,
): Promise<FileOutcome> {
  return changeRows(connections, async (tx) => {
    const inForce = await readFileInForce(tx)
    const hash = source.hashWith(keeper.fileKey)
    const isSame = inForce?.hash.equals(hash) === true
    if (isSame && !inForce.isOverwritten) return { kind: 'unchanged', revision: inForce.revision }
    const file = source.parse()
    const { revision } = file
    const replaced = isSame ? undefined : inForce
    if (replaced !== undefined && isLower(revision, replaced.revision)) {
      return { kind: 'lower', revision, inForce: replaced }
    }
    const { generated, names } = await writeRows(tx, file, keeper)
    if (!isSame || Object.keys(shownNames(names)).length > 0)
      await noteChanges(tx, { place: source.place, hash }, revision, names)
    await noteFileInForce(tx, { ...source.place, hash, revision })
    return { kind: 'applied', revision, changes: countsOf(names), generated, replaced }
  })
}

/** A file without a revision is lower than each that has one: it was not made to take part in the order. */
function isLower(revision: number | undefined, inForce: number | undefined): boolean {
  return (revision ?? 0) < (inForce ?? 0)
}

/**
 * Rows are matched by name. Disables rows of an earlier file that this one leaves out; leaves rows alone that no file made.
 * The same file again changes no row.
 */
async function writeRows(
  tx: Transaction,
  file: GatewayFile,
  keeper: SecretKeeper,
): Promise<{ generated: GeneratedKey[]; names: FileNames }> {
  // One of the budgets may be new: see holdCharges.
  if (hasBudgets(file)) await holdCharges(tx)
  const { groupIds, changes, retire } = await applyCatalog(tx, file, keeper)
  const tenants = await applyTenants(tx, file.tenants, { groupIds, peppers: keeper.ring('pepper') })
  await retire()
  return { generated: tenants.generated, names: { ...changes, ...tenants.changes } }
}

/** One line of the audit log: the file, and the names of what it has changed. */
async function noteChanges(
  tx: Transaction,
  { place: { path, host }, hash }: { place: GatewaySource['place']; hash: Buffer },
  revision: number | undefined,
  names: FileNames,
): Promise<void> {
  const after = {
    host,
    hash: hash.toString('hex').slice(0, 12),
    revision: revision ?? null,
    changes: shownNames(names),
  }
  await writeAudit(
    tx,
    {
      actor: { kind: 'file', id: null, userId: null, name: path },
      address: null,
      userAgent: null,
      requestId: null,
    },
    { action: 'file.apply', resource: 'file', id: path, name: path, after },
  )
}

function hasBudgets({ groups, tenants }: GatewayFile): boolean {
  const owners = [...groups, ...tenants.flatMap(({ keys }) => keys)]
  return owners.some(({ budget }) => Object.values(budget ?? {}).some((cap) => cap !== undefined))
}
