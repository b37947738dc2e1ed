import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Connections } from '../db/connections.ts'
import { isAnswer, isPassing, isUnknownName, reasonOf } from '../db/failures.ts'
import { silentLog } from '../telemetry/relay-log.ts'
import { CommandError, exitCodes, wrongUsage } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface CommandDatabase {
  config: Config
  /** The address of the database, including the password. */
  url: string
  connections: Connections
}

interface Caller {
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  /** Whether to create the embedded database where it does not exist, as `start` does. */
  makes?: boolean
}

/**
 * Reads the configuration of a gateway with this environment. Rejects with a CommandError that lists all
 * invalid variables.
 */
export async function commandConfig(env: Caller['env']): Promise<Config> {
  const { readConfig } = await import('../config/config.ts')
  try {
    return readConfig(env)
  } catch (error) {
    throw wrongUsage(messageWithCauses(error), error)
  }
}

/**
 * Runs `work` on the configured database over one connection named `tollgate <name>`. Starts the embedded
 * Postgres if one is configured and exists, and waits up to DATABASE_WAIT_MS for the database to respond.
 * Rejects with a CommandError when the database is unreachable or lacks the tables of this release, and
 * otherwise with the error of `work`.
 */
export async function withDatabase<Result>(
  name: string,
  { env, terminal, makes = false }: Caller,
  work: (database: CommandDatabase) => Promise<Result>,
): Promise<Result> {
  const config = await commandConfig(env)
  const [{ openConnections }, { whenReachable }] = await Promise.all([
    import('../db/connections.ts'),
    import('../db/migrate.ts'),
  ])
  const embedded = config.databaseUrl === undefined ? await startOwn(config, terminal, makes) : undefined
  const url = config.databaseUrl ?? embedded?.url ?? ''
  const connections = openConnections(url, { max: 1, applicationName: `tollgate ${name}` })
  try {
    await terminal.during('waiting for the database', () =>
      opening(() => whenReachable(url, config.bounds.databaseWaitMs, silentLog, async () => {})),
    )
    return await work({ config, url, connections }).catch((error: unknown) => {
      throw explained(error)
    })
  } finally {
    await connections.end()
    await embedded?.stop()
  }
}

async function startOwn(config: Config, terminal: Terminal, makes: boolean) {
  const { startEmbedded } = await import('../db/embedded.ts')
  const dataDir = resolve(config.dataDir)
  if (!makes) await requireEmbedded(dataDir)
  return await terminal.during('starting the embedded Postgres', () =>
    opening(() => startEmbedded({ dataDir, log: silentLog })),
  )
}

/**
 * Rejects with a CommandError where there is no embedded database, because a command run in the wrong folder
 * must not create one.
 */
export async function requireEmbedded(dataDir: string): Promise<void> {
  const { embeddedUrl } = await import('../db/embedded.ts')
  if (embeddedUrl(dataDir) !== undefined) return
  throw new CommandError(
    exitCodes.unreachable,
    `DATA_DIR (${dataDir}) contains no database. Run this in the gateway's folder, or set DATA_DIR or DATABASE_URL to the gateway's values.`,
  )
}

/** Reports any failure of `work` as a database that cannot be opened. */
export async function opening<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(exitCodes.unreachable, messageWithCauses(error), { cause: error })
  }
}

function explained(error: unknown): unknown {
  if (error instanceof CommandError) return error
  const cause = reasonOf(error)
  const unreachable = (message: string) => new CommandError(exitCodes.unreachable, message, { cause: error })
  if (isUnknownName(cause))
    return unreachable(
      'the database lacks the tables of this release. Run `tollgate migrate` to create them.',
    )
  if (isPassing(cause) || (isAnswer(cause) && /^(08|28|3D|53|57)/.test(codeOf(cause))))
    return unreachable(
      `the database failed: ${messageWithCauses(cause)}. Everything not yet committed was rolled back. Run this again.`,
    )
  // Return the cause, because the message of drizzle's own error includes the query parameters, which may be
  // secrets.
  return cause
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function messageWithCauses(error: unknown): string {
  const messages: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) messages.push(at.message)
  return messages.join(': ') || String(error)
}
