import type { Sql } from 'postgres'
import { type MigrationPlan, planMigration } from '../../db/migration-plan.ts'
import { type Verification, verifyLedger } from '../../ledger-tools/verify.ts'
import { heardOfRule } from '../../ledger-tools/verify-rules.ts'
import type { BackupFacts, Manifest } from './manifest.ts'
import { readFacts } from './session.ts'

/** The contents of a restored database, and whether they match the backup. */
export interface Restored {
  facts: BackupFacts
  /** What differs from the manifest, such as `keys: expected 4, got 3`. */
  differences: string[]
  schema: Pick<MigrationPlan, 'applied' | 'known' | 'compatibleFrom'>
  /**
   * The result of the ledger's rules, without the rule that a gateway which has not started cannot meet yet.
   * Null if the backup's schema is from another release, on which this one cannot run.
   */
  verification: Verification | null
}

/** Checks a freshly restored database before a gateway starts on it. Makes no changes. */
export async function checkRestored(sql: Sql, manifest: Manifest): Promise<Restored> {
  const found = await readFacts(sql)
  if (found === undefined) throw new Error('the restored database does not contain the Tollgate tables')
  const { applied, known, compatibleFrom, isFormer } = await planMigration(sql)
  const isOurs = !isFormer && applied >= known && compatibleFrom <= known
  return {
    facts: found.facts,
    differences: differencesOf(found.facts, manifest.from.facts, manifest.to.facts),
    schema: { applied, known, compatibleFrom },
    verification: isOurs ? await verifyFor(sql) : null,
  }
}

async function verifyFor(sql: Sql): Promise<Verification> {
  const verification = await verifyLedger(sql)
  const findings = verification.findings.filter(({ rule }) => rule !== heardOfRule)
  return { ...verification, findings }
}

/**
 * While a backup is made, the log only grows but other numbers can move both ways, so they may lie slightly
 * outside of both ends.
 */
function differencesOf(found: BackupFacts, from: BackupFacts, to: BackupFacts): string[] {
  const counts = (['tenants', 'keys', 'channels'] as const).flatMap((name) => {
    const [least, most] = [from[name], to[name]].sort((a, b) => a - b)
    const isRight = found[name] >= Number(least) && found[name] <= Number(most)
    return isRight ? [] : [`${name}: expected ${shown(least, most)}, got ${found[name]}`]
  })
  const isSame = JSON.stringify(from) === JSON.stringify(to)
  if (isSame && found.balancesNano !== from.balancesNano)
    counts.push(`balances: expected ${from.balancesNano} nano-USD, got ${found.balancesNano}`)
  const newest = found.newestRequest ?? ''
  if (newest < (from.newestRequest ?? '') || newest > (to.newestRequest ?? ''))
    counts.push(`newest request: expected ${shown(from.newestRequest, to.newestRequest)}, got ${newest}`)
  return counts
}

function shown(from: unknown, to: unknown): string {
  return from === to ? String(from) : `${from} to ${to}`
}
