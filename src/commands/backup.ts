import { resolve } from 'node:path'
import type { Manifest, Method } from '../backup/manifest.ts'
import { methods } from '../backup/manifest.ts'
import type { Config } from '../config.ts'
import { silentLog } from '../telemetry/relay-log.ts'
import { copyFailure, showProgress, sizeText } from './backup-output.ts'
import { command } from './command.ts'
import { commandConfig, opening, requireEmbedded } from './command-database.ts'
import { exitCodes, wrongUsage } from './exit-codes.ts'
import { flag, json, oneOf, required, value } from './options.ts'

export const backup = command({
  name: 'backup',
  group: 'Repair',
  does: 'back up the database and DATA_DIR while the gateway serves',
  details:
    'It makes FOLDER, which must not exist. docs/reference/backup.md says what is in it. By default it copies the embedded Postgres, and has pg_dump read one of your own.',
  changes: true,
  options: {
    with: value('METHOD', `how the database is read: ${methods.join(', ')}`, {
      completes: methods,
      read: oneOf(methods),
    }),
    databaseOnly: flag('leave DATA_DIR out'),
    withoutSecretKey: flag('leave DATA_DIR/secret.key out: keep it elsewhere'),
    json,
  },
  arguments: { folder: required('FOLDER', 'the folder that it makes', { completes: 'folders' }) },
  async run({ options, arguments: { folder }, terminal, env, signal }) {
    const begunMs = performance.now()
    const config = commandConfig(env)
    const progress = showProgress(terminal)
    const made = await makeOne(config, { ...options, folder, env, signal, onProgress: progress.show })
      .catch((error: unknown) => {
        throw copyFailure('nothing is backed up', error)
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
    import('../backup/make-backup.ts'),
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
    throw wrongUsage('the embedded Postgres has no programs but its own: leave out --with')
  if (!isEmbedded && method === 'copy')
    throw wrongUsage('a Postgres of your own is not copied file by file: take pg_dump or pg_basebackup')
  return method ?? (isEmbedded ? 'copy' : 'pg_dump')
}

/** Where the deployment keeps what is in no backup of ours. */
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
  const moment = from.at === to.at ? to.at : `a moment from ${from.at} to ${to.at}`
  const secrets = parts.includes('secret.key')
    ? 'It has secret.key: treat it as a secret.'
    : 'It has no SECRET_KEY: keep that elsewhere, or the secrets of this backup cannot be read.'
  return [
    `Backed up to ${folder}: ${sizeText(bytes)} in ${((performance.now() - begunMs) / 1000).toFixed(1)} s, by ${method} of Postgres ${postgres}.`,
    `State of ${moment}: ${tenants} tenants, ${keys} keys, newest request ${newestRequest ?? 'none'}.`,
    `Of DATA_DIR: ${parts.join(', ') || 'nothing'}. ${secrets}`,
    ...(leftOut.length === 0
      ? []
      : [`Not in it: ${leftOut.join('; ')}. docs/reference/backup.md says what to do about that.`]),
  ]
}
