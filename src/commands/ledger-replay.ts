import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Sql } from 'postgres'
import type { SetAsideFolder } from '../journal/set-aside-folders.ts'
import type { Replay } from '../ledger-tools/replay.ts'
import { command } from './command.ts'
import { commandConfig, messageWithCauses, withDatabase } from './command-database.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { flag, json, several, value, values } from './options.ts'

export const ledgerReplay = command({
  name: 'ledger replay',
  group: 'Repair',
  does: 'write frames that were set aside back to the usage log, unchanged or corrected',
  details:
    'The ids are those shown by `ledger inspect`, or those of requests. Exit code 0: all of them are in the usage log. 1: at least one is not; its line gives the reason.',
  changes: true,
  options: {
    set: values('COLUMN=VALUE', 'change a column of each row'),
    row: value('FILE', 'use the row in this file, as printed by `ledger inspect --show`', {
      completes: 'files',
    }),
    force: flag('write the row even if a check advises against it'),
    json,
  },
  arguments: { ids: several('ID', 'the id of a frame or of its request, or the path of its folder') },
  async run({ options: { json, ...mending }, arguments: { ids }, terminal, env }) {
    const { findSetAside } = await import('../journal/set-aside-folders.ts')
    if (mending.row !== undefined && ids.length > 1)
      throw wrongUsage('--row applies to a single frame. Name only that frame.')
    const { dataDir } = await commandConfig(env)
    const root = join(resolve(dataDir), 'journal')
    const frames = ids.map((id) => {
      try {
        return findSetAside(root, id, Date.now())
      } catch (error) {
        throw wrongUsage(
          `${messageWithCauses(error)}. Run \`tollgate ledger inspect\` to list the ids.`,
          error,
        )
      }
    })
    return await withDatabase('ledger replay', { env, terminal }, async ({ connections }) => {
      let refused = 0
      for (const frame of frames) {
        const replayed = await replayOne(connections.sql, frame, mending)
        if (replayed.verdict === 'refused') refused++
        if (json) terminal.printJsonLine({ id: frame.id, ...replayed })
        else terminal.print(lineOf(frame, replayed))
      }
      return refused === 0 ? exitCodes.done : exitCodes.notWell
    })
  },
})

function lineOf({ id }: SetAsideFolder, replayed: Replay): string {
  switch (replayed.verdict) {
    case 'replayed':
      return `REPLAYED  ${id}: ${replayed.note}`
    case 'there':
      return `UNCHANGED ${id}: it was replayed before`
    case 'refused':
      return `REFUSED   ${id}: ${replayed.why}`
  }
}

interface Mending {
  set: readonly string[]
  row: string | undefined
  force: boolean
}

async function replayOne(sql: Sql, frame: SetAsideFolder, { set, row, force }: Mending): Promise<Replay> {
  if (frame.replayedAt !== undefined) return { verdict: 'there' }
  const [{ mendableOf, mendedFrom, withChange }, { problemWith, replay }, { markReplayed }] =
    await Promise.all([
      import('../ledger-tools/mended-row.ts'),
      import('../ledger-tools/replay.ts'),
      import('../journal/set-aside-folders.ts'),
    ])
  try {
    const { content, mended: shown } = mendableOf(frame)
    const given = row === undefined ? shown : mendedFrom(JSON.parse(readFileSync(row, 'utf8')))
    const mended = set.reduce(withChange, given)
    const problem = problemWith(content, mended)
    if (problem !== undefined) return { verdict: 'refused', why: problem }
    const replayed = await replay(sql, content, mended, force)
    if (replayed.verdict !== 'refused') markReplayed(frame.folder, new Date(), { set, row, force })
    return replayed
  } catch (error) {
    if (isOfConnection(error)) throw error
    return { verdict: 'refused', why: whyOf(error) }
  }
}

/** Whether the error is a failure of the connection to Postgres and not of the frame. */
function isOfConnection(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return /^(08|53|57|CONN|ECONN)/.test(code)
}

function whyOf(error: unknown): string {
  const isOfPostgres = error instanceof Error && 'severity' in error
  return isOfPostgres
    ? `Postgres refused the row: ${error.message}. View it with ledger inspect --show, and correct it with --set column=value or --row`
    : messageWithCauses(error)
}
