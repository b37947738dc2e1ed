import { isDeepStrictEqual } from 'node:util'
import { applyCatalog } from '../catalog/apply.ts'
import {
  byFile,
  changedCounts,
  type FileChanges,
  type FileKind,
  type FileNames,
  fileKinds,
  PlanChangedError,
  shownNames,
  type Writing,
} from '../catalog/file-changes.ts'
import { type GatewayFile, hasBudgets } from '../catalog/gateway-file.ts'
import type { GatewaySource } from '../catalog/gateway-source.ts'
import { changeRows, holdCharges, type Transaction } from '../catalog/queries.ts'
import type { Connections } from '../db/connections.ts'
import { isUnknownName, reasonOf } from '../db/failures.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { applyTenants, type GeneratedKey } from './apply-tenants.ts'
import { writeAudit } from './audit-queries.ts'
import { readExportRows } from './export-queries.ts'
import { type FileInForce, noteFileInForce, readFileInForce } from './gateway-file-queries.ts'
import { changesBetween, type RowChange, type RowWords, wordsOfRows } from './row-changes.ts'

/** The result of applying a gateway.yaml. */
export type FileOutcome =
  /** The file is already in force, and no row has changed since. */
  | { kind: 'unchanged'; revision: number | undefined }
  /** Another file has a higher revision and stays in force. */
  | { kind: 'lower'; revision: number | undefined; inForce: FileInForce }
  | {
      kind: 'applied'
      revision: number | undefined
      changes: FileChanges
      /** The new keys with their secrets, which cannot be shown again later. */
      generated: GeneratedKey[]
      /** The other file that was in force before. */
      replaced: FileInForce | undefined
    }

/**
 * Checks a gateway.yaml before the database is migrated. A file that is in force was checked when it was
 * applied. Throws an Error with a line for each problem.
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

/**
 * Writes a gateway.yaml into the database in one transaction, unless it is already in force or another file
 * has a higher revision. Throws PlanChangedError, and writes nothing, if the changes would differ from
 * `planned`, the changes that someone has agreed to.
 */
export function applyGatewayFile(
  connections: Pick<Connections, 'db'>,
  source: GatewaySource,
  keeper: SecretKeeper,
  planned?: FileChanges,
): Promise<FileOutcome> {
  return changeRows(connections, async (tx) => {
    const { outcome } = await applyIn(tx, source, keeper, byFile)
    if (outcome.kind === 'applied' && planned !== undefined && !isDeepStrictEqual(outcome.changes, planned))
      throw new PlanChangedError('nothing was applied: rows have changed since the plan was made')
    return outcome
  })
}

/** A row that a gateway.yaml changes. */
export interface FileLine {
  kind: FileKind
  name: string
  /** `remove`: the row is disabled or deleted. */
  action: 'create' | 'change' | 'remove'
  /** The columns that change in an existing row. */
  members: readonly string[]
  /** The old and new values of the changed settings of an existing row. */
  changes: readonly RowChange[]
  /** True if an admin created the row, which the file manages from now on. */
  takenOver: boolean
}

/**
 * Returns what `applyGatewayFile` would do, row by row, by running it in a transaction that is rolled back.
 */
export async function planGatewayFile(
  connections: Pick<Connections, 'db'>,
  source: GatewaySource,
  keeper: SecretKeeper,
): Promise<{ outcome: FileOutcome; lines: FileLine[] }> {
  const reported: ReportedLine[] = []
  const writing: Writing = {
    ...byFile,
    report(kind, name, action, members) {
      if (action !== 'skip') reported.push({ kind, name, action, members })
    },
  }
  let plan: (Awaited<ReturnType<typeof applyIn>> & { before: RowWords; after: RowWords }) | undefined
  try {
    await changeRows(connections, async (tx) => {
      // The transaction starts again after a conflict.
      reported.length = 0
      const before = wordsOfRows(await readExportRows(tx), keeper)
      const applied = await applyIn(tx, source, keeper, writing)
      plan = { ...applied, before, after: wordsOfRows(await readExportRows(tx), keeper) }
      throw new Undone()
    })
  } catch (error) {
    if (!(error instanceof Undone)) throw error
  }
  if (plan === undefined) throw new Error('the transaction ended without a plan')
  const { outcome, names, before, after } = plan
  const shown = reported.map((line) => ({
    ...line,
    changes:
      line.action === 'change'
        ? changesBetween(before[line.kind].get(line.name), after[line.kind].get(line.name), line.members)
        : [],
  }))
  return { outcome, lines: names === undefined ? [] : linesOf(shown, names) }
}

type ReportedLine = Pick<FileLine, 'kind' | 'name' | 'action' | 'members'>

class Undone extends Error {}

function linesOf(reported: readonly Omit<FileLine, 'takenOver'>[], names: FileNames): FileLine[] {
  return fileKinds.flatMap((kind) => {
    const { removed, taken_over } = names[kind]
    const takenOver = new Set(taken_over)
    const changed = reported
      .filter((line) => line.kind === kind)
      .map((line) => ({ ...line, takenOver: takenOver.has(line.name) }))
    const left = removed.map((name): FileLine => {
      return { kind, name, action: 'remove', members: [], changes: [], takenOver: false }
    })
    return [...changed, ...left]
  })
}

async function applyIn(
  tx: Transaction,
  source: GatewaySource,
  keeper: SecretKeeper,
  writing: Writing,
): Promise<{ outcome: FileOutcome; names?: FileNames }> {
  const inForce = await readFileInForce(tx)
  const hash = source.hashWith(keeper.fileKey)
  const isSame = inForce?.hash.equals(hash) === true
  if (isSame && !inForce.isOverwritten) return { outcome: { kind: 'unchanged', revision: inForce.revision } }
  const file = source.parse()
  const { revision } = file
  const replaced = isSame ? undefined : inForce
  if (replaced !== undefined && isLower(revision, replaced.revision)) {
    return { outcome: { kind: 'lower', revision, inForce: replaced } }
  }
  const { generated, names } = await writeRows(tx, file, keeper, writing)
  if (!isSame || Object.keys(shownNames(names)).length > 0)
    await noteChanges(tx, { place: source.place, hash }, revision, names)
  await noteFileInForce(tx, { ...source.place, hash, revision })
  return { outcome: { kind: 'applied', revision, changes: changedCounts(names), generated, replaced }, names }
}

/**
 * A file without a revision is lower than any file that has one, because it does not take part in the order.
 */
function isLower(revision: number | undefined, inForce: number | undefined): boolean {
  return (revision ?? 0) < (inForce ?? 0)
}

/**
 * Writes the rows of a file, matching existing rows by name. Disables rows of an earlier file that are
 * missing from this one; rows that no file created are left alone. Applying the same file again changes
 * nothing.
 */
async function writeRows(
  tx: Transaction,
  file: GatewayFile,
  keeper: SecretKeeper,
  writing: Writing,
): Promise<{ generated: GeneratedKey[]; names: FileNames }> {
  // One of the budgets may be new; see holdCharges.
  if (hasBudgets(file)) await holdCharges(tx)
  const { groupIds, changes, retire } = await applyCatalog(tx, file, keeper, writing)
  const tenants = await applyTenants(tx, file.tenants, { groupIds, peppers: keeper.ring('pepper'), writing })
  await retire()
  return { generated: tenants.generated, names: { ...changes, ...tenants.changes } }
}

/** Writes one line of the audit log, with the file and the names of the rows that it has changed. */
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
