import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { checkRestored, type Restored } from '../backup/check-restored.ts'
import type { Manifest } from '../backup/manifest.ts'
import type { Environment } from '../backup/postgres-tools.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import { type Config, readConfig } from '../config.ts'
import { readKeeper } from '../secrets/open-masters.ts'
import { type CommandOutput, showProgress } from './backup-output.ts'
import { openCommandDatabase, secretKeysOf } from './command-database.ts'

export interface RestoreCommandOptions {
  /** The folder of the backup. */
  folder: string
  databaseOnly: boolean
  /** Where the cluster of a backup by pg_basebackup goes. */
  cluster: string | undefined
  isJson: boolean
}

export const restoreUsage = `tollgate restore FOLDER [options]    put a backup where nothing is, and verify the ledger
  --database-only     leave DATA_DIR as it is, as while gateways run
  --cluster FOLDER    where the cluster of a backup by pg_basebackup goes
  --json              print what is there as JSON
`

/** `tollgate restore`: the exit code, 1 when what is there is not what the backup says. Results go to stdout, all else to stderr. */
export async function restore(
  { folder, databaseOnly, cluster, isJson }: RestoreCommandOptions,
  env: Environment,
  output: CommandOutput,
): Promise<number> {
  const begunMs = performance.now()
  const config = readConfig({ ...env })
  const progress = showProgress(output)
  const { databaseUrl } = config
  const dataDir = resolve(config.dataDir)
  const manifest = await restoreBackup({
    ...{ folder, dataDir, databaseUrl, cluster, databaseOnly, env },
    onProgress: progress.show,
  }).finally(progress.end)
  const restoredMs = performance.now() - begunMs
  if (manifest.method === 'pg_basebackup') {
    output.print(
      `The cluster is in ${cluster}. Start Postgres ${manifest.postgres} on it, then run npm run ledger:verify.`,
    )
    return 0
  }
  output.tell('Verifying the ledger ...\n')
  const { restored, secretKey } = await look(config, manifest)
  const seconds = { restored: restoredMs / 1000, total: (performance.now() - begunMs) / 1000 }
  if (isJson)
    output.print(
      JSON.stringify({ made: manifest.from.at, ...restored, secret_key: secretKey, seconds }, null, 2),
    )
  else for (const line of linesOf(manifest, restored, secretKey, seconds)) output.print(line)
  const isBroken = restored.verification.findings.some(({ differences }) => differences > 0)
  return isBroken || restored.differences.length > 0 || secretKey !== 'opens' ? 1 : 0
}

/** `tollgate restore ...` as it was typed. */
export async function restoreFrom(
  args: readonly string[],
  env: Environment,
  output: CommandOutput,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'database-only': { type: 'boolean', default: false },
      cluster: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [folder, second] = positionals
  if (values.help || folder === undefined || second !== undefined) {
    output.tell(restoreUsage)
    return values.help ? 0 : 2
  }
  const { cluster, json: isJson } = values
  return await restore({ folder, databaseOnly: values['database-only'], cluster, isJson }, env, output)
}

async function look(config: Config, manifest: Manifest): Promise<{ restored: Restored; secretKey: string }> {
  const database = await openCommandDatabase(config, 'restore')
  const { sql } = database.connections
  try {
    const restored = await database.whenReachable(() => checkRestored(sql, manifest))
    return { restored, secretKey: await secretKeyOf(sql, config) }
  } finally {
    await database.close()
  }
}

/** `opens`, or why not. */
async function secretKeyOf(sql: Sql, config: Config): Promise<string> {
  try {
    await readKeeper(sql, secretKeysOf(config))
    return 'opens'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function linesOf(
  { from, to, parts }: Manifest,
  { facts, differences, verification }: Restored,
  secretKey: string,
  seconds: { restored: number; total: number },
): string[] {
  const { findings, requests } = verification
  const broken = findings.filter(({ differences }) => differences > 0)
  return [
    `Restored in ${seconds.restored.toFixed(1)} s, verified after ${seconds.total.toFixed(1)} s: the state of ${from.at === to.at ? to.at : `a moment from ${from.at} to ${to.at}`}.`,
    `There are ${facts.tenants} tenants, ${facts.keys} keys, ${facts.channels} channels, ${requests} requests in Postgres, the newest ${facts.newestRequest ?? 'none'}.`,
    `Of DATA_DIR: ${parts.join(', ') || 'nothing'}.`,
    ...differences.map((difference) => `DIFFERS  ${difference}`),
    ...broken.flatMap(({ rule, differences, samples }) => [
      `BROKEN   ${rule}: ${differences} differ`,
      ...samples.map((sample) => `           ${sample}`),
    ]),
    `${broken.length} of ${findings.length} rules of the ledger broken.`,
    ...(secretKey === 'opens' ? [] : [`SECRET_KEY does not open the secrets of this database: ${secretKey}`]),
  ]
}
