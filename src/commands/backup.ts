import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeBackup } from '../backup/make-backup.ts'
import type { Manifest, Method } from '../backup/manifest.ts'
import { methods } from '../backup/manifest.ts'
import type { Environment } from '../backup/postgres-tools.ts'
import { type Config, readConfig } from '../config.ts'
import { startEmbedded } from '../db/embedded.ts'
import { silentLog } from '../telemetry/relay-log.ts'
import { type CommandOutput, showProgress, sizeOf } from './backup-output.ts'

export interface BackupCommandOptions {
  /** The folder that it makes. */
  folder: string
  /** Default: `copy` for the embedded Postgres, else `pg_dump`. */
  method: Method | undefined
  databaseOnly: boolean
  withoutSecretKey: boolean
  isJson: boolean
}

export const backupUsage = `tollgate backup FOLDER [options]    back up the database and DATA_DIR while the gateway serves
  --with copy|pg_dump|pg_basebackup   how the database is read; default: copy for the embedded one, else pg_dump
  --database-only                     leave DATA_DIR out
  --without-secret-key                leave DATA_DIR/secret.key out: keep it elsewhere
  --json                              print the manifest without its files
`

/** `tollgate backup`: the exit code. Results go to stdout, all else to stderr. */
export async function backup(
  { folder, method, databaseOnly, withoutSecretKey, isJson }: BackupCommandOptions,
  env: Environment,
  output: CommandOutput,
): Promise<number> {
  const begunMs = performance.now()
  const config = readConfig({ ...env })
  const dataDir = resolve(config.dataDir)
  const embedded =
    config.databaseUrl === undefined ? await startEmbedded({ dataDir, log: silentLog }) : undefined
  const progress = showProgress(output)
  try {
    const made = await makeBackup({
      folder,
      url: config.databaseUrl ?? embedded?.url ?? '',
      dataDir,
      method: methodOf(method, config),
      databaseOnly,
      withoutSecretKey,
      env,
      onProgress: progress.show,
    })
    progress.end()
    const { files, ...rest } = made
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    if (isJson) output.print(JSON.stringify({ folder, bytes, ...rest }, null, 2))
    else for (const line of linesOf(made, { folder, bytes, begunMs })) output.print(line)
    return 0
  } finally {
    progress.end()
    await embedded?.stop()
  }
}

/** `tollgate backup ...` as it was typed. */
export async function backupFrom(
  args: readonly string[],
  env: Environment,
  output: CommandOutput,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      with: { type: 'string' },
      'database-only': { type: 'boolean', default: false },
      'without-secret-key': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [folder, second] = positionals
  const method = methods.find((name) => name === values.with)
  if (
    values.help ||
    folder === undefined ||
    second !== undefined ||
    (values.with !== undefined && method === undefined)
  ) {
    output.tell(backupUsage)
    return values.help ? 0 : 2
  }
  return await backup(
    {
      folder,
      method,
      databaseOnly: values['database-only'],
      withoutSecretKey: values['without-secret-key'],
      isJson: values.json,
    },
    env,
    output,
  )
}

function methodOf(method: Method | undefined, { databaseUrl }: Config): Method {
  const isEmbedded = databaseUrl === undefined
  if (isEmbedded && method !== undefined && method !== 'copy')
    throw new Error('the embedded Postgres has no programs but its own: leave out --with')
  if (!isEmbedded && method === 'copy')
    throw new Error('a Postgres of your own is not copied file by file: take pg_dump or pg_basebackup')
  return method ?? (isEmbedded ? 'copy' : 'pg_dump')
}

function linesOf(
  { from, to, method, parts, postgres }: Manifest,
  { folder, bytes, begunMs }: { folder: string; bytes: number; begunMs: number },
): string[] {
  const { tenants, keys, newestRequest } = to.facts
  const moment = from.at === to.at ? to.at : `a moment from ${from.at} to ${to.at}`
  const secrets = parts.includes('secret.key')
    ? 'It has secret.key: treat it as a secret.'
    : 'It has no SECRET_KEY: keep that elsewhere, or nobody can read the secrets of this backup.'
  return [
    `Backed up to ${folder}: ${sizeOf(bytes)} in ${((performance.now() - begunMs) / 1000).toFixed(1)} s, by ${method} of Postgres ${postgres}.`,
    `State of ${moment}: ${tenants} tenants, ${keys} keys, newest request ${newestRequest ?? 'none'}.`,
    `Of DATA_DIR: ${parts.join(', ') || 'nothing'}. ${secrets}`,
  ]
}
