import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { configFromEnvironment } from '../config.ts'
import { openConnections } from '../db/connections.ts'
import { embeddedUrl } from '../db/embedded.ts'
import { type Inspection, inspectLedger } from '../ledger/inspection.ts'
import { inspectionJson } from '../ledger/inspection-json.ts'
import { inspectionText } from '../ledger/inspection-text.ts'
import { mendableOf } from '../ledger/mended-row.ts'
import { findSetAside } from '../ledger/set-aside-folders.ts'

/**
 * `npm run ledger:inspect [-- folder] [--json] [--show id]` shows the journals of a folder and what was set aside there. It
 * changes nothing. Exit code 1: something is set aside or damaged; 2: the folder cannot be inspected.
 */
async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean' }, show: { type: 'string' } },
  })
  const { config } = configFromEnvironment()
  const [folder = join(config.dataDir, 'journal'), second] = positionals
  if (second !== undefined) throw new Error('it takes one folder')
  const root = resolve(folder)
  if (!existsSync(root))
    throw new Error(`there is no folder ${root}; name the folder of the journals, or set DATA_DIR`)
  if (values.show !== undefined) {
    const { mended } = mendableOf(findSetAside(root, values.show))
    console.log(JSON.stringify(mended, null, 2))
    return
  }
  const inspection = await inspect(root, config.databaseUrl ?? embeddedUrl(resolve(config.dataDir)))
  process.stdout.write(values.json === true ? `${inspectionJson(inspection)}\n` : inspectionText(inspection))
  const { journals, setAside } = inspection
  const isBad =
    setAside.some(({ replayedAt }) => replayedAt === undefined) ||
    journals.some(({ damaged, error }) => damaged.length > 0 || error !== null)
  if (isBad) process.exitCode = 1
}

async function inspect(root: string, url: string | undefined): Promise<Inspection> {
  if (url === undefined) return await inspectLedger(root, undefined, 'DATABASE_URL is not set.')
  const connections = openConnections(url, { max: 1, applicationName: 'tollgate inspect', statementMs })
  try {
    return await inspectLedger(root, connections.sql)
  } catch (error) {
    return await inspectLedger(root, undefined, error instanceof Error ? error.message : String(error))
  } finally {
    await connections.end()
  }
}

const statementMs = 10_000

main().catch((error: unknown) => {
  console.error(`The ledger cannot be inspected: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(2)
})
