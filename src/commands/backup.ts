import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { silentLog } from '../telemetry/relay-log.ts'
import type { Manifest } from './backup/manifest.ts'
import { type Method, methods } from './backup/methods.ts'
import { copyFailure, showProgress, sizeText } from './backup-output.ts'
import { command } from './command.ts'
import { commandConfig, opening, requireEmbedded } from './command-database.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { flag, json, oneOf, required, value } from './options.ts'

export const backup = command({
  name: 'backup',
  group: 'Repair',
  does: 'back up the database and DATA_DIR while the gateway is running',
  details:
    'It creates FOLDER, which must not exist yet. docs/reference/backup.md describes its contents. By default it copies the files of the embedded Postgres, and uses pg_dump for a Postgres of your own.',
  changes: true,
  options: {
    with: value('METHOD', `how to read the database: ${methods.join(', ')}`, {
      completes: methods,
      read: oneOf(methods),
    }),
    databaseOnly: flag('leave out DATA_DIR'),
    withoutSecretKey: flag('leave out DATA_DIR/secret.key, which you then have to keep elsewhere'),
    json,
  },
  arguments: { folder: required('FOLDER', 'the folder to create', { completes: 'folders' }) },
  async run({ options, arguments: { folder }, terminal, env, signal }) {
    const begunMs = performance.now()
    const config = await commandConfig(env)
    const progress = showProgress(terminal)
    const made = await makeOne(config, { ...options, folder, env, signal, onProgress: progress.show })
      .catch((error: unknown) => {
        throw copyFailure('nothing was backed up', error)
      })
      .finally(progress.end)
    const { files, ...rest } = made
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    const leftOut = leftOutOf(config)
    if (options.json) terminal.printJson({ folder, bytes, left_out: leftOut, ...rest })
    else for (const line of linesOf(made, { folder, bytes, begunMs, leftOut })) terminal.print(line)
    return exitCodes.done
  },
})

interface Asked {
  with: Method | undefined
  databaseOnly: boolean
  withoutSecretKey: boolean
  folder: string
  env: Readonly<Record<string, string | undefined>>
  onProgress: ReturnType<typeof showProgress>['show']
  signal: AbortSignal
}

async function makeOne(config: Config, { with: given, ...asked }: Asked): Promise<Manifest> {
  const dataDir = resolve(config.dataDir)
  const method = methodOf(given, config)
  const [{ makeBackup }, { startEmbedded }] = await Promise.all([
    import('./backup/make-backup.ts'),
    import('../db/embedded.ts'),
  ])
  const startOwn = async () => {
    await requireEmbedded(dataDir)
    return await opening(() => startEmbedded({ dataDir, log: silentLog }))
  }
  const embedded = config.databaseUrl === undefined ? await startOwn() : undefined
  try {
    const url = config.databaseUrl ?? embedded?.url ?? ''
    return await makeBackup({ ...asked, url, dataDir, method })
  } finally {
    await embedded?.stop()
  }
}

function methodOf(method: Method | undefined, { databaseUrl }: Config): Method {
  const isEmbedded = databaseUrl === undefined
  if (isEmbedded && method !== undefined && method !== 'copy')
    throw wrongUsage('the embedded Postgres comes without pg_dump and pg_basebackup. Leave out --with.')
  if (!isEmbedded && method === 'copy')
    throw wrongUsage(
      'only the embedded Postgres can be copied file by file. Use --with pg_dump or --with pg_basebackup.',
    )
  return method ?? (isEmbedded ? 'copy' : 'pg_dump')
}

/** Returns where the deployment keeps data that our backups do not include. */
function leftOutOf({ s3Bucket, archiveS3Bucket, archiveDir }: Config): string[] {
  const buckets = [...new Set([s3Bucket, archiveS3Bucket])].filter((name) => name !== undefined)
  return [
    ...buckets.map((name) => `the bucket ${name}`),
    ...(archiveDir === undefined ? [] : [`ARCHIVE_DIR, ${archiveDir}`]),
  ]
}

function linesOf(
  { from, to, method, parts, postgres }: Manifest,
  { folder, bytes, begunMs, leftOut }: { folder: string; bytes: number; begunMs: number; leftOut: string[] },
): string[] {
  const { tenants, keys, newestRequest } = to.facts
  const moment = from.at === to.at ? to.at : `a moment between ${from.at} and ${to.at}`
  const secrets = parts.includes('secret.key')
    ? 'The backup contains secret.key: keep it as safe as a secret.'
    : 'The backup does not contain SECRET_KEY: keep it elsewhere, because the secrets in this backup cannot be read without it.'
  return [
    `Backed up to ${folder}: ${sizeText(bytes)} in ${((performance.now() - begunMs) / 1000).toFixed(1)} s, with ${method} from Postgres ${postgres}.`,
    `State as of ${moment}: ${tenants} tenants, ${keys} keys, newest request ${newestRequest ?? 'none'}.`,
    `Parts of DATA_DIR: ${parts.join(', ') || 'none'}. ${secrets}`,
    ...(leftOut.length === 0
      ? []
      : [`Not included: ${leftOut.join('; ')}. docs/reference/backup.md describes how to back these up.`]),
  ]
}
