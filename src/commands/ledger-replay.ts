import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Sql } from 'postgres'
import type { Replay } from '../ledger/replay.ts'
import type { SetAsideFolder } from '../ledger/set-aside-folders.ts'
import { command } from './command.ts'
import { commandConfig, messageWithCauses, withDatabase } from './command-database.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { flag, json, several, value, values } from './options.ts'

export const ledgerReplay = command({
  name: 'ledger replay',
  group: 'Repair',
  does: 'put frames back into the usage log that were set aside, as they are or mended',
  details:
    'Exit code 0: all of them are in the usage log. 1: at least one is not, and its line says why. The ids are those of `ledger inspect`, or of requests.',
  changes: true,
  options: {
    set: values('COLUMN=VALUE', 'change a column of the rows'),
    row: value('FILE', 'take the row of this file, which `ledger inspect --show` has printed', {
      completes: 'files',
    }),
    force: flag('put it back although a check speaks against it'),
    json,
  },
  arguments: { ids: several('ID', 'of a frame or of its request, or the path of its folder') },
  async run({ options: { json, ...mending }, arguments: { ids }, terminal, env }) {
    const { findSetAside } = await import('../ledger/set-aside-folders.ts')
    if (mending.row !== undefined && ids.length > 1)
      throw wrongUsage('--row is the row of one frame: name only that one')
    const root = join(resolve(commandConfig(env).dataDir), 'journal')
    const frames = ids.map((id) => {
      try {
        return findSetAside(root, id, Date.now())
      } catch (error) {
        throw wrongUsage(`${messageWithCauses(error)}. \`tollgate ledger inspect\` lists the ids.`, error)
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
      return `put back  ${id}: ${replayed.note}`
    case 'there':
      return `is there  ${id}: it was put back before; nothing changed`
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
      import('../ledger/mended-row.ts'),
      import('../ledger/replay.ts'),
      import('../ledger/set-aside-folders.ts'),
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

/** Postgres does not answer: not an error of the frame. */
function isOfConnection(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return /^(08|53|57|CONN|ECONN)/.test(code)
}

function whyOf(error: unknown): string {
  const isOfPostgres = error instanceof Error && 'severity' in error
  return isOfPostgres
    ? `Postgres refuses it: ${error.message}. See its row with ledger inspect --show, and mend it with --set column=value or --row`
    : messageWithCauses(error)
}
