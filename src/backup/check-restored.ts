import type { Sql } from 'postgres'
import { type MigrationPlan, planMigration } from '../db/migration-plan.ts'
import { type Verification, verifyLedger } from '../ledger/verify.ts'
import { heardOfRule } from '../ledger/verify-rules.ts'
import type { BackupFacts, Manifest } from './manifest.ts'
import { readFacts } from './session.ts'

/** What a restored database has, and whether that is what the backup says. */
export interface Restored {
  facts: BackupFacts
  /** What lies outside of what the manifest says, such as `keys: 3, and the backup has 4`. */
  differences: string[]
  schema: Pick<MigrationPlan, 'applied' | 'known' | 'compatibleFrom'>
  /**
   * Without the rule that no gateway can keep that is not started yet. Null: the backup is of another
   * release, on whose schema this one does not run.
   */
  verification: Verification | null
}

/** Look into a database that was just restored, before a gateway starts on it. It changes nothing. */
export async function checkRestored(sql: Sql, manifest: Manifest): Promise<Restored> {
  const found = await readFacts(sql)
  if (found === undefined) throw new Error('the restored database has no tables of Tollgate')
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
 * While a backup is made the log only grows, and other numbers move: they may lie a little outside of both
 * ends.
 */
function differencesOf(found: BackupFacts, from: BackupFacts, to: BackupFacts): string[] {
  const counts = (['tenants', 'keys', 'channels'] as const).flatMap((name) => {
    const [least, most] = [from[name], to[name]].sort((a, b) => a - b)
    const isRight = found[name] >= Number(least) && found[name] <= Number(most)
    return isRight ? [] : [`${name}: ${found[name]}, and the backup has ${shown(least, most)}`]
  })
  const isSame = JSON.stringify(from) === JSON.stringify(to)
  if (isSame && found.balancesNano !== from.balancesNano)
    counts.push(`balances: ${found.balancesNano} nano-USD, and the backup has ${from.balancesNano}`)
  const newest = found.newestRequest ?? ''
  if (newest < (from.newestRequest ?? '') || newest > (to.newestRequest ?? ''))
    counts.push(
      `newest request: ${newest}, and the backup has ${shown(from.newestRequest, to.newestRequest)}`,
    )
  return counts
}

function shown(from: unknown, to: unknown): string {
  return from === to ? String(from) : `${from} to ${to}`
}
