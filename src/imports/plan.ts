import type { GeneratedKey } from '../access/apply-tenants.ts'
import type { FileKind } from '../catalog/file-changes.ts'
import type { ImportProblem } from './problems.ts'

/** The action of an import for one row. */
export interface PlanLine {
  kind: FileKind
  name: string
  action: 'create' | 'change' | 'skip' | 'conflict'
  /** The changed members, or the reason why the row cannot be written. */
  reason: string
}

export interface Plan {
  lines: PlanLine[]
  problems: ImportProblem[]
  /** The keys with a generated secret, which is known only after they have been written. */
  generated: GeneratedKey[]
  /** The values that would be replaced, with the rows that have them. They are never shown. */
  replaced: readonly unknown[]
}

export type PlanCounts = Record<PlanLine['action'], number>

export function planCounts(lines: readonly PlanLine[]): PlanCounts {
  const counts: PlanCounts = { create: 0, change: 0, skip: 0, conflict: 0 }
  for (const { action } of lines) counts[action]++
  return counts
}

/** Whether the plan would write nothing. */
export function changesNothing({ lines }: Pick<Plan, 'lines'>): boolean {
  return lines.every(({ action }) => action === 'skip')
}
