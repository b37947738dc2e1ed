import { execFile, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

export type ProgramEnvironment = Readonly<Record<string, string | undefined>>

/** A Postgres program installed by a package. */
export interface PostgresTool {
  path: string
  env: ProgramEnvironment
}

/** Where Debian's packages install the programs, with a folder for each release. */
const debianFolder = '/usr/lib/postgresql'

/**
 * Finds the program for a server of this version, such as `15.14`: the first one in PATH or in Debian's
 * packages that is not older. Throws an Error that explains how to install it.
 */
export async function findTool(
  name: string,
  serverVersion: string,
  env: ProgramEnvironment,
): Promise<PostgresTool> {
  const needed = Number.parseInt(serverVersion, 10)
  for (const path of [name, ...debianPlaces(name)]) {
    const major = await majorOf(path, env)
    if (major !== undefined && major >= needed) return { path, env }
  }
  throw new Error(
    `${name} of Postgres ${needed} or newer was not found: install it, for example with apt-get install postgresql-client-${needed}`,
  )
}

function debianPlaces(name: string): string[] {
  try {
    const majors = readdirSync(debianFolder).map(Number).filter(Number.isInteger)
    return majors.sort((a, b) => a - b).map((major) => join(debianFolder, String(major), 'bin', name))
  } catch {
    return []
  }
}

async function majorOf(path: string, env: ProgramEnvironment): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { env: { ...env } })
    return Number(/ (\d+)/.exec(stdout)?.[1])
  } catch {
    return undefined
  }
}

/** A Postgres program has failed. The message contains the last lines of its output. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/**
 * Runs the program on the database of `url`, without passing the password as an argument. Throws a ToolError
 * with the program's error output. If `signal` aborts, the program is ended and awaited.
 */
export async function runTool(
  { path, env }: PostgresTool,
  url: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const place = new URL(url)
  const password = decodeURIComponent(place.password)
  place.password = ''
  const child = spawn(path, [...args, '--no-password', `--dbname=${place.href}`], {
    env: { ...env, ...(password === '' ? {} : { PGPASSWORD: password }) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = Promise.withResolvers<number | null>()
  child.once('error', ended.reject)
  child.once('exit', ended.resolve)
  const end = () => child.kill()
  signal.addEventListener('abort', end)
  const [said, code] = await Promise.all([text(child.stderr), ended.promise]).finally(() =>
    signal.removeEventListener('abort', end),
  )
  if (code === 0) return
  signal.throwIfAborted()
  const lines = said.trim().split('\n').slice(-5).join('\n')
  throw new ToolError(
    `${path} ${code === null ? 'was ended by a signal' : `failed with exit code ${code}`}: ${lines}`,
  )
}

/**
 * The table of contents of a dump, from `pg_restore --list`, without the extensions, which the gateway's user
 * is not allowed to create because they belong to the server's operator. Tollgate needs none.
 */
export async function contentsOf({ path, env }: PostgresTool, dump: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--list', dump], {
    env: { ...env },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((cause: unknown) => {
    throw new ToolError(`${path} cannot read the dump: ${cause instanceof Error ? cause.message : cause}`)
  })
  const lines = stdout.split('\n')
  return lines.filter((line) => !/^\d+; \d+ \d+ (EXTENSION - |COMMENT - EXTENSION )/.test(line)).join('\n')
}
