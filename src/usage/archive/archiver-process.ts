// The archiver process: it receives one task as a message and answers with one message. It can be killed at
// any moment.

import { finishBegun } from './archive-day.ts'
import { type ArchivePass, archivePass, removeAbandoned, withArchiver } from './archive-pass.ts'
import { begunParts, daysInForce } from './archived-days.ts'
import type { ArchiverOptions } from './options.ts'
import { noReport, type Removals, type RewriteReport, rewriteWithout } from './rewrite-day.ts'

export type ArchiverTask =
  | { kind: 'pass'; options: ArchiverOptions }
  /** Both days are inclusive. */
  | { kind: 'rewrite'; options: ArchiverOptions; from: string; to: string; removals: Removals }

/** `null` if another archiver is running. */
export type FromArchiver =
  | { pass: ArchivePass | null }
  | { rewritten: RewriteReport | null }
  | { failed: string }

process.on('disconnect', () => process.exit())
process.once('message', (task: ArchiverTask) => {
  void answer(task)
    .catch(
      (error: unknown): FromArchiver => ({ failed: error instanceof Error ? error.message : String(error) }),
    )
    .then((message) => process.send?.(message, () => process.exit()))
})

async function answer(task: ArchiverTask): Promise<FromArchiver> {
  switch (task.kind) {
    case 'pass':
      return { pass: (await archivePass(task.options)) ?? null }
    case 'rewrite':
      return { rewritten: (await rewriteDays(task)) ?? null }
  }
}

function rewriteDays({ options, from, to, removals }: Extract<ArchiverTask, { kind: 'rewrite' }>) {
  return withArchiver(options, async (archiver) => {
    const sum = noReport()
    // A killed archiver may have left files that contain what has to be removed.
    for (const part of await begunParts(archiver.sql, from, to)) {
      if ((await finishBegun(archiver, part)) === 'later')
        throw new Error(`${part.table} of ${part.day} cannot be archived now: try again later`)
    }
    for (const day of await daysInForce(archiver.sql, from, to)) {
      const { requests, attempts, payloads, answers, verdicts } = await rewriteWithout(
        archiver,
        day,
        removals,
      )
      sum.requests += requests
      sum.attempts += attempts
      sum.payloads += payloads
      sum.answers += answers
      sum.verdicts += verdicts
    }
    await removeAbandoned(archiver)
    return sum
  })
}
