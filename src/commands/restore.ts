import { resolve } from 'node:path'
import type { Sql } from 'postgres'
import type { Config } from '../config/config.ts'
import { presentKeys } from '../secrets/present-keys.ts'
import type { Restored } from './backup/check-restored.ts'
import type { Manifest } from './backup/manifest.ts'
import { copyFailure, showProgress } from './backup-output.ts'
import { command } from './command.ts'
import { commandConfig, withDatabase } from './command-database.ts'
import { CommandError, exitCodes } from './exit-codes.ts'
import { flag, json, required, value } from './options.ts'
import type { Terminal } from './terminal.ts'

export const restore = command({
  name: 'restore',
  group: 'Repair',
  does: 'restore a backup to an empty place, and verify it',
  details:
    'DATABASE_URL must name an empty database; without it, the embedded database is created in DATA_DIR. Exit code 1: the restored data does not match the backup, or SECRET_KEY cannot decrypt it.',
  changes: true,
  options: {
    databaseOnly: flag('leave DATA_DIR as it is, for example while gateways are running'),
    cluster: value('FOLDER', 'where to put the cluster of a pg_basebackup backup', { completes: 'folders' }),
    json,
  },
  arguments: { folder: required('FOLDER', 'the folder of the backup', { completes: 'folders' }) },
  async run({ options: { json, databaseOnly, cluster }, arguments: { folder }, terminal, env, signal }) {
    const begunMs = performance.now()
    const config = await commandConfig(env)
    const { databaseUrl } = config
    const dataDir = resolve(config.dataDir)
    const progress = showProgress(terminal)
    const { restoreBackup } = await import('./backup/restore-backup.ts')
    const manifest = await restoreBackup({
      ...{ folder, dataDir, databaseUrl, cluster, databaseOnly, env },
      onProgress: progress.show,
      signal,
    })
      .catch((error: unknown) => {
        throw copyFailure('nothing was restored', error)
      })
      .finally(progress.end)
    const restoredMs = performance.now() - begunMs
    if (manifest.method === 'pg_basebackup') {
      const { postgres, from, parts } = manifest
      if (json)
        terminal.printJson({
          made: from.at,
          cluster,
          postgres,
          parts,
          seconds: { restored: restoredMs / 1000 },
        })
      else
        terminal.print(
          `The cluster is in ${cluster}. Make the Postgres user its owner, start Postgres ${postgres} on it, then run tollgate ledger verify.`,
        )
      return exitCodes.done
    }
    terminal.tell('Verifying the ledger ...')
    const { restored, secretKey } = await look({ env, terminal }, manifest).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error
      const message = `the backup was restored, but could not be verified: ${error.message}`
      throw new CommandError(error.exitCode, message, { cause: error })
    })
    const seconds = { restored: restoredMs / 1000, total: (performance.now() - begunMs) / 1000 }
    if (json) terminal.printJson({ made: manifest.from.at, ...restored, secret_key: secretKey, seconds })
    else for (const line of linesOf(manifest, restored, secretKey, seconds)) terminal.print(line)
    const holds = restored.verification?.findings.every(({ differences }) => differences === 0) === true
    const isWell = holds && restored.differences.length === 0 && secretKey === 'opens'
    return isWell ? exitCodes.done : exitCodes.notWell
  },
})

async function look(
  caller: { env: Readonly<Record<string, string | undefined>>; terminal: Terminal },
  manifest: Manifest,
): Promise<{ restored: Restored; secretKey: string }> {
  const { checkRestored } = await import('./backup/check-restored.ts')
  return await withDatabase('restore', caller, async ({ connections: { sql }, config }) => ({
    restored: await checkRestored(sql, manifest),
    secretKey: await secretKeyOf(sql, config),
  }))
}

/**
 * Returns `opens`, or the reason why the key cannot open the secrets. Unlike a start, it never creates a
 * missing SECRET_KEY.
 */
async function secretKeyOf(sql: Sql, config: Config): Promise<string> {
  const { readKeeper } = await import('../secrets/open-masters.ts')
  try {
    const keys = presentKeys(config)
    if (keys === undefined) return missingKey
    await readKeeper(sql, keys)
    return 'opens'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const missingKey =
  'it is missing. Before you start a gateway, set SECRET_KEY or, for the embedded database, put secret.key into DATA_DIR'

function linesOf(
  { from, to, parts }: Manifest,
  { facts, differences, verification, schema }: Restored,
  secretKey: string,
  seconds: { restored: number; total: number },
): string[] {
  return [
    `Restored in ${seconds.restored.toFixed(1)} s, verified after ${seconds.total.toFixed(1)} s: the state as of ${from.at === to.at ? to.at : `a moment between ${from.at} and ${to.at}`}.`,
    `It contains ${facts.tenants} tenants, ${facts.keys} keys and ${facts.channels} channels; newest request: ${facts.newestRequest ?? 'none'}.`,
    `Parts of DATA_DIR: ${parts.join(', ') || 'none'}.`,
    ...differences.map((difference) => `DIFFERS  ${difference}`),
    ...(verification === null ? [notVerified(schema)] : verificationLines(verification)),
    ...(secretKey === 'opens' ? [] : [`SECRET_KEY cannot open the secrets of this database: ${secretKey}`]),
  ]
}

function notVerified({ applied, known, compatibleFrom }: Restored['schema']): string {
  const has = `The ledger was not verified, because the backup has the schema of another release (${applied} migrations; this release has ${known}).`
  return compatibleFrom > known
    ? `${has} Use that release.`
    : `${has} Run tollgate migrate or start a gateway, then run tollgate ledger verify.`
}

function verificationLines({ findings, requests }: NonNullable<Restored['verification']>): string[] {
  const broken = findings.filter(({ differences }) => differences > 0)
  return [
    ...broken.flatMap(({ rule, differences, samples }) => [
      `BROKEN   ${rule}: ${differences} differ`,
      ...samples.map((sample) => `           ${sample}`),
    ]),
    `${requests} requests in Postgres; ${broken.length} of ${findings.length} rules of the ledger broken.`,
  ]
}
