import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Inspection } from '../ledger-tools/inspection.ts'
import { command } from './command.ts'
import { commandConfig, messageWithCauses } from './command-database.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { json, optional, value } from './options.ts'

export const ledgerInspect = command({
  name: 'ledger inspect',
  group: 'Repair',
  does: 'show the journals of a folder, and the frames set aside there',
  details:
    'It is read-only. Without Postgres it shows only the files. Exit code 1: some frames are set aside or damaged.',
  options: {
    show: value('ID', 'print the row of this frame as JSON, in the format of `ledger replay --row`'),
    json,
  },
  arguments: {
    folder: optional('FOLDER', 'the folder of the journals; default: DATA_DIR/journal', {
      completes: 'folders',
    }),
  },
  async run({ options: { show, json }, arguments: { folder }, terminal, env }) {
    const config = await commandConfig(env)
    const root = resolve(folder ?? join(config.dataDir, 'journal'))
    if (!existsSync(root))
      throw wrongUsage(`folder ${root} does not exist. Name the folder of the journals, or set DATA_DIR.`)
    if (show !== undefined) {
      terminal.printJson(await shownRow(root, show))
      return exitCodes.done
    }
    const [{ embeddedUrl }, { inspectionJson }, { inspectionText }] = await Promise.all([
      import('../db/embedded.ts'),
      import('../ledger-tools/inspection-json.ts'),
      import('../ledger-tools/inspection-text.ts'),
    ])
    const url = config.databaseUrl ?? embeddedUrl(resolve(config.dataDir))
    const inspection = await terminal.during('reading the journals', () => inspect(root, url))
    terminal.print(json ? inspectionJson(inspection) : inspectionText(inspection).trimEnd())
    const { journals, setAside } = inspection
    const isBad =
      setAside.some(({ replayedAt }) => replayedAt === undefined) ||
      journals.some(({ damaged, error }) => damaged.length > 0 || error !== null)
    return isBad ? exitCodes.notWell : exitCodes.done
  },
})

async function shownRow(root: string, id: string): Promise<unknown> {
  const [{ findSetAside }, { mendableOf }] = await Promise.all([
    import('../journal/set-aside-folders.ts'),
    import('../ledger-tools/mended-row.ts'),
  ])
  try {
    return mendableOf(findSetAside(root, id, Date.now())).mended
  } catch (error) {
    throw wrongUsage(`--show: ${messageWithCauses(error)}`, error)
  }
}

async function inspect(root: string, url: string | undefined): Promise<Inspection> {
  const [{ openConnections }, { inspectLedger }] = await Promise.all([
    import('../db/connections.ts'),
    import('../ledger-tools/inspection.ts'),
  ])
  if (url === undefined) return await inspectLedger(root, Date.now(), undefined, 'DATABASE_URL is not set.')
  const connections = openConnections(url, {
    max: 1,
    applicationName: 'tollgate ledger inspect',
    statementMs,
  })
  try {
    return await inspectLedger(root, Date.now(), connections.sql)
  } catch (error) {
    return await inspectLedger(root, Date.now(), undefined, messageWithCauses(error))
  } finally {
    await connections.end()
  }
}

const statementMs = 10_000
