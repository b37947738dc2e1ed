import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { configFromEnvironment } from '../config.ts'
import { mendableOf, mendedFrom, withChange } from '../ledger/mended-row.ts'
import { problemWith, type Replay, replay } from '../ledger/replay.ts'
import { findSetAside, markReplayed } from '../ledger/set-aside-folders.ts'
import { openCommandDatabase } from './command-database.ts'

/**
 * `npm run ledger:replay -- id... [--set column=value]... [--row file.json] [--force]` puts frames back that were set aside.
 * Exit code 0: all of them are in the usage log; 1: at least one is not, and its line says why; 2: nothing was tried.
 */
async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      set: { type: 'string', multiple: true, default: [] },
      row: { type: 'string' },
      force: { type: 'boolean', default: false },
    },
  })
  const { config } = configFromEnvironment()
  if (positionals.length === 0)
    throw new Error('name the frames to put back: npm run ledger:inspect lists their ids')
  if (values.row !== undefined && positionals.length > 1)
    throw new Error('--row is the row of one frame: name only that one')
  const root = join(resolve(config.dataDir), 'journal')
  const frames = positionals.map((name) => findSetAside(root, name))
  const database = await openCommandDatabase(config, 'replay')
  try {
    for (const frame of frames) {
      const replayed = await database.whenReachable(() => replayOne(frame))
      switch (replayed.verdict) {
        case 'replayed':
          console.log(`put back  ${frame.id}: ${replayed.note}`)
          break
        case 'there':
          console.log(`is there  ${frame.id}: it was put back before; nothing changed`)
          break
        case 'refused':
          console.log(`REFUSED   ${frame.id}: ${replayed.why}`)
          process.exitCode = 1
      }
    }
  } finally {
    await database.close()
  }

  async function replayOne(frame: ReturnType<typeof findSetAside>): Promise<Replay> {
    if (frame.replayedAt !== undefined) return { verdict: 'there' }
    try {
      const { content, mended: shown } = mendableOf(frame)
      const given =
        values.row === undefined ? shown : mendedFrom(JSON.parse(readFileSync(values.row, 'utf8')))
      const mended = values.set.reduce(withChange, given)
      const problem = problemWith(content, mended)
      if (problem !== undefined) return { verdict: 'refused', why: problem }
      const replayed = await replay(database.connections.sql, content, mended, values.force)
      if (replayed.verdict !== 'refused')
        markReplayed(frame.folder, { set: values.set, row: values.row, force: values.force })
      return replayed
    } catch (error) {
      if (isOfConnection(error)) throw error
      return { verdict: 'refused', why: whyOf(error) }
    }
  }
}

/** Postgres does not answer: not an error of the frame. */
function isOfConnection(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return /^(08|53|57|CONN|ECONN)/.test(code)
}

function whyOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const isOfPostgres = error instanceof Error && 'severity' in error
  return isOfPostgres
    ? `Postgres refuses it: ${message}. See its row with ledger:inspect --show, and mend it with --set column=value or --row`
    : message
}

main().catch((error: unknown) => {
  console.error(`Nothing was put back: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(2)
})
