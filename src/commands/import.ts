import { existsSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { configFromEnvironment } from '../config.ts'
import type { Connections } from '../db/connections.ts'
import { isUnknownName, reasonOf } from '../db/failures.ts'
import type { Imported } from '../import/imported.ts'
import { type ImportOptions, readImportOptions, usage } from '../import/options.ts'
import { countsOf, isEmpty, type Plan } from '../import/plan.ts'
import { type Look, planTable } from '../import/plan-table.ts'
import { ImportError } from '../import/problems.ts'
import { readImport } from '../import/read-import.ts'
import { type ImportTerms, planImport, writeImport } from '../import/write.ts'
import { prepareKeeper, readKeeper } from '../secrets/open-masters.ts'
import { openCommandDatabase, secretKeysOf } from './command-database.ts'

/** `npm run import -- new-api FILE`: the exit code. The plan goes to stdout, all else to stderr. */
export async function importFrom(args: readonly string[]): Promise<number> {
  try {
    const options = readImportOptions(args)
    if (options === undefined) {
      process.stdout.write(usage)
      return 0
    }
    const { config, environment } = configFromEnvironment()
    const imported = readImport(options, environment)
    if (options.yamlFile !== undefined) return writeYaml(imported, options, options.yamlFile)
    const keys = secretKeysOf(config)
    const database = await openCommandDatabase(config, 'import')
    const { connections } = database
    try {
      const keeper = await database.whenReachable(() => readKeeper(connections.sql, keys))
      const terms: ImportTerms = {
        keeper,
        from: { format: options.format, file: basename(options.files[0] ?? '') },
        keepsExisting: options.keepsExisting,
        takesOver: options.format === 'gateway-yaml',
      }
      return await planAndWrite(connections, imported, options, {
        ...terms,
        keeperForWriting: () => prepareKeeper(connections.sql, keys),
      })
    } finally {
      await database.close()
    }
  } catch (error) {
    const isOurs = error instanceof ImportError
    process.stderr.write(`Nothing is imported: ${error instanceof Error ? error.message : String(error)}\n`)
    return isOurs ? 2 : 1
  }
}

async function planAndWrite(
  connections: Connections,
  imported: Imported,
  options: ImportOptions,
  { keeperForWriting, ...terms }: ImportTerms & { keeperForWriting: () => Promise<ImportTerms['keeper']> },
): Promise<number> {
  const plan = await planImport(connections, imported, terms).catch((error: unknown) => {
    if (!isUnknownName(reasonOf(error))) throw error
    throw new ImportError(
      'the database has no tables of this release: start Tollgate on it once, then import',
    )
  })
  const { conflict } = countsOf(plan.lines)
  if (!options.isJson) process.stdout.write(planTable(plan, lookOf()))
  if (conflict > 0) {
    if (options.isJson) print(plan, false)
    process.stderr.write(
      'Nothing is written while there are conflicts: end them, or leave such rows as they are with --keep-existing.\n',
    )
    return 1
  }
  const isNothing = isEmpty(plan)
  if (isNothing || !(options.writes || (await isAgreed(options)))) {
    if (options.isJson) print(plan, false)
    process.stderr.write(
      isNothing ? 'There is nothing to write.\n' : 'Nothing is written: --yes writes it.\n',
    )
    return isNothing ? 0 : 1
  }
  const written = await writeImport(connections, imported, { ...terms, keeper: await keeperForWriting() })
  if (options.isJson) print(written, true)
  else {
    for (const { tenant, key, secret } of written.generated) {
      process.stdout.write(`New secret of key "${key}" of ${tenant}, shown only now: ${secret}\n`)
    }
  }
  process.stderr.write('It is written. Running gateways follow within a second.\n')
  return 0
}

function print({ lines, problems, generated }: Plan, written: boolean): void {
  process.stdout.write(
    `${JSON.stringify({ written, counts: countsOf(lines), rows: lines, problems, generated_keys: generated }, null, 2)}\n`,
  )
}

async function isAgreed({ isJson }: ImportOptions): Promise<boolean> {
  if (isJson || process.stdin.isTTY !== true || process.stdout.isTTY !== true) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question('Write it? [y/N] ')).trim())
  } finally {
    terminal.close()
  }
}

/** The file must not be there: it may be in force. */
function writeYaml({ yaml, problems }: Imported, { isJson }: ImportOptions, path: string): number {
  if (yaml === undefined) throw new ImportError('this format has no gateway.yaml to write')
  const envPath = `${path}.env`
  for (const each of [path, envPath]) {
    if (existsSync(each)) throw new ImportError(`${each} is there already: name another file`)
  }
  const lines = [...yaml.variables].map(([name, value]) => `${name}=${quoted(name, value)}\n`)
  writeFileSync(envPath, lines.join(''), { mode: 0o600, flag: 'wx' })
  writeFileSync(path, yaml.text, { mode: 0o644, flag: 'wx' })
  if (isJson) process.stdout.write(`${JSON.stringify({ yaml: path, env: envPath, problems }, null, 2)}\n`)
  else process.stdout.write(planTable({ lines: [], problems }, lookOf()))
  process.stderr.write(`${path} is written; ${envPath} has its ${yaml.variables.size} secrets.\n`)
  return 0
}

/** As `node --env-file` and a shell read it. */
function quoted(name: string, value: string): string {
  if (/^[\w./:@%+=,-]*$/.test(value)) return value
  if (!value.includes("'") && !/[\r\n]/.test(value)) return `'${value}'`
  throw new ImportError(`the value of ${name} has quotes or line breaks, which an .env file cannot hold`)
}

/** Colours only on a terminal, and never with NO_COLOR: https://no-color.org */
function lookOf(): Look {
  const { isTTY, columns } = process.stdout
  return {
    hasColour: isTTY === true && process.stdout.hasColors(),
    columns: isTTY === true ? columns : undefined,
  }
}
