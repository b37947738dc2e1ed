import { randomUUIDv7 } from 'node:crypto'
import { applyTenants } from '../access/apply-tenants.ts'
import { type AuditEntry, writeAudit } from '../access/audit-queries.ts'
import { applyCatalog } from '../catalog/apply.ts'
import { PlanChangedError, type Writing } from '../catalog/file-changes.ts'
import { hasBudgets } from '../catalog/gateway-file.ts'
import { readPriceLibrary } from '../catalog/library/library-queries.ts'
import { changeRows, holdCharges, type Transaction } from '../catalog/queries.ts'
import type { Connections } from '../db/connections.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { findConflicts } from './conflicts.ts'
import type { Imported } from './imported.ts'
import { changesNothing, type Plan, type PlanLine, planCounts } from './plan.ts'

export interface ImportTerms {
  keeper: SecretKeeper
  /** The format, such as `new-api`, and the name of the file. */
  from: { format: string; file: string }
  /**
   * Whether existing rows are left as they are. Otherwise they are changed, and those that cannot be changed
   * are conflicts.
   */
  keepsExisting: boolean
  /** Whether rows that gateway.yaml manages are handed over to the admins. */
  takesOver: boolean
  /** Whether channels call only addresses that the admin API may set. */
  isAddressBounded?: boolean
  /** True: the caller rolls the transaction back. */
  isPlan?: boolean
}

/** Plans an import by running it in a transaction that is rolled back. */
export async function planImport(
  db: Pick<Connections, 'db'>,
  imported: Imported,
  terms: ImportTerms,
): Promise<Plan> {
  let plan: Plan | undefined
  try {
    await changeRows(db, async (tx) => {
      plan = await applyImport(tx, imported, { ...terms, isPlan: true })
      throw new Undone()
    })
  } catch (error) {
    if (!(error instanceof Undone)) throw error
  }
  if (plan === undefined) throw new Error('the transaction ended without a plan')
  return { ...plan, generated: [] }
}

class Undone extends Error {}

/**
 * Writes the import in one transaction, together with a line in the audit log. Writes nothing if there are
 * conflicts or nothing to write.
 */
export function writeImport(
  db: Pick<Connections, 'db'>,
  imported: Imported,
  terms: ImportTerms,
): Promise<Plan> {
  return changeRows(db, async (tx) => {
    const plan = await applyImport(tx, imported, terms)
    if (planCounts(plan.lines).conflict > 0)
      throw new PlanChangedError(
        'nothing was written, because rows have changed since the plan and now there are conflicts',
      )
    if (!changesNothing(plan)) await writeAudit(tx, byCommand, importEntry(plan, terms))
    return plan
  })
}

/**
 * Plans or writes an import in the caller's transaction, which holds `lockRows`. The caller rolls it back if
 * the plan must not be written, and writes `importEntry` to the audit log otherwise.
 */
export async function applyImport(tx: Transaction, imported: Imported, terms: ImportTerms): Promise<Plan> {
  const { keeper, keepsExisting, takesOver } = terms
  const found = await findConflicts(tx, imported.file, { keeper, takesOver })
  // The library's prices are already in force. Whether they are renewed, and who manages them, stays as it
  // is.
  const keepsPrices = !takesOver && (await readPriceLibrary(tx)) !== undefined
  const { prices, ...rest } = found.withoutRefusedKeys
  const file = prices === undefined || keepsPrices ? rest : { ...rest, prices }
  const conflicts = new Map(found.lines.map((line) => [`${line.kind} ${line.name}`, line]))
  const lines: PlanLine[] = []
  const replaced: unknown[] = []
  const writing: Writing = {
    managedBy: 'admin',
    keepsExisting,
    disabledChannels: imported.disabledChannels,
    isAddressBounded: terms.isAddressBounded ?? false,
    report(kind, name, action, members, existing) {
      if (!keepsExisting && conflicts.has(`${kind} ${name}`)) return
      lines.push({ kind, name, action, reason: members.join(', ') })
      const before = new Map<string, unknown>(Object.entries(existing ?? {}))
      if (members.length > 0) replaced.push([kind, name, members.map((member) => before.get(member))])
    },
  }
  // One of the budgets may be new; see holdCharges. A plan is rolled back, so it must not make charges wait.
  if (terms.isPlan !== true && hasBudgets(file)) await holdCharges(tx)
  const { groupIds } = await applyCatalog(tx, file, keeper, writing)
  const peppers = keeper.ring('pepper')
  const { generated } = await applyTenants(tx, file.tenants, { groupIds, peppers, writing })
  const kept = keepsExisting ? skipped(found.lines, lines) : found.lines
  return { lines: [...kept, ...lines], problems: imported.problems, generated, replaced }
}

/** With `keepsExisting` there are no conflicts, because existing rows are left as they are. */
function skipped(conflicts: readonly PlanLine[], lines: readonly PlanLine[]): PlanLine[] {
  const reported = new Set(lines.map(({ kind, name }) => `${kind} ${name}`))
  return conflicts
    .filter(({ kind, name }) => !reported.has(`${kind} ${name}`))
    .map((line) => ({ ...line, action: 'skip' }))
}

/** The maximum number of rows listed in the audit log. The counts include the rest. */
const namedMax = 1_000

/** The line of the audit log. */
export function importEntry({ lines, problems }: Plan, { from }: Pick<ImportTerms, 'from'>): AuditEntry {
  const written = lines.filter(({ action }) => action !== 'skip')
  return {
    action: 'import.write',
    resource: 'import',
    id: randomUUIDv7(),
    name: from.file,
    after: {
      format: from.format,
      counts: { ...planCounts(lines) },
      lost: problems.filter(({ level }) => level === 'lost').length,
      rows: written.slice(0, namedMax).map(({ kind, name, action }) => ({ kind, name, action })),
    },
  }
}

const byCommand = {
  actor: { kind: 'system', id: null, userId: null, name: 'tollgate import' },
  address: null,
  userAgent: null,
  requestId: null,
} as const
