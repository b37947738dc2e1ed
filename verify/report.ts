import { z } from 'zod'
import { formatIds, verdicts } from './format.ts'

const line = z.object({
  name: z.string(),
  must: z.boolean(),
  verdict: z.enum(verdicts),
  detail: z.string(),
  calls: z.int(),
  ms: z.int(),
  /** The request ids of its calls, where the server sends them. */
  request_ids: z.array(z.string()),
})

export const sectionSchema = z.object({
  id: z.enum(['service', ...formatIds]),
  title: z.string(),
  /**
   * False if the server refused the simple request of this format, in which case nothing else was checked.
   */
  served: z.boolean(),
  checks: z.array(line),
})

/**
 * The output of `--json`. Members may be added, but the meaning of a member does not change within a
 * `version`.
 */
export const report = z.object({
  version: z.literal(1),
  base: z.string(),
  model: z.string(),
  calls_max: z.int(),
  calls: z.int(),
  ms: z.int(),
  interrupted: z.boolean(),
  counts: z.record(z.enum(verdicts), z.int()),
  sections: z.array(sectionSchema),
  exit_code: z.int(),
})

export type Line = z.infer<typeof line>
export type Section = z.infer<typeof sectionSchema>
export type Report = z.infer<typeof report>

export function verdictCounts(sections: readonly Section[]): Report['counts'] {
  const counts = { ok: 0, refused: 0, ignored: 0, broken: 0, unknown: 0 }
  for (const { verdict } of sections.flatMap(({ checks }) => checks)) counts[verdict]++
  return counts
}

/** Returns 0 if all required checks are ok and nothing is broken, 130 after Ctrl-C, and otherwise 1. */
export function exitCodeOf(sections: readonly Section[], isInterrupted: boolean, areNamed: boolean): number {
  if (isInterrupted) return 130
  const formats = sections.filter(({ id }) => id !== 'service')
  const isServed = areNamed ? formats.every(({ served }) => served) : formats.some(({ served }) => served)
  return isServed && faultsOf(sections).length === 0 ? 0 : 1
}

/**
 * Returns what causes exit code 1: everything broken, and the required checks of served formats that are not
 * ok.
 */
export function faultsOf(sections: readonly Section[]): string[] {
  return sections.flatMap(({ title, served, checks }) =>
    checks
      .filter(({ must, verdict }) => verdict === 'broken' || (served && must && verdict !== 'ok'))
      .map(({ name }) => `${title}: ${name}`),
  )
}
