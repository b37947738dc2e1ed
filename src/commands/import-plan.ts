import { existsSync, writeFileSync } from 'node:fs'
import type { Connections } from '../db/connections.ts'
import type { Imported } from '../imports/imported.ts'
import { changesNothing, type Plan, planCounts } from '../imports/plan.ts'
import { ImportError } from '../imports/problems.ts'
import { type ImportTerms, planImport, writeImport } from '../imports/write.ts'
import { exitCodes } from './exit-codes.ts'
import type { ImportOptions } from './import/options.ts'
import { planTable } from './import/plan-table.ts'
import type { Terminal } from './terminal.ts'

interface Asked {
  terms: ImportTerms & { keeperForWriting: () => Promise<ImportTerms['keeper']> }
  terminal: Terminal
  signal: AbortSignal
}

/**
 * Shows the plan on stdout, writes it if the user agrees, and returns the exit code. Everything else is
 * printed to stderr.
 */
export async function planAndWrite(
  connections: Connections,
  imported: Imported,
  { isJson, writes }: ImportOptions,
  { terms: { keeperForWriting, ...terms }, terminal, signal }: Asked,
): Promise<number> {
  const plan = await terminal.during('planning', () => planImport(connections, imported, terms))
  if (!isJson) terminal.print(planTable(plan, terminal.look).trimEnd())
  const notWritten = (why: string, code: number) => {
    if (isJson) terminal.printJson(planJson(plan, false))
    terminal.tell(why)
    return code
  }
  if (planCounts(plan.lines).conflict > 0)
    return notWritten(
      'Nothing was written, because there are conflicts. Resolve them, or use --keep-existing to leave those rows as they are.',
      exitCodes.notWell,
    )
  if (changesNothing(plan)) return notWritten('There is nothing to write.', exitCodes.done)
  if (!writes && (isJson || !(await terminal.agrees('Write these rows?', signal))))
    return notWritten('Nothing was written. Add --yes to write it.', exitCodes.notWell)
  const keeper = await keeperForWriting()
  const written = await terminal.during('writing', () =>
    writeImport(connections, imported, { ...terms, keeper }),
  )
  if (isJson) terminal.printJson(planJson(written, true))
  else
    for (const { tenant, key, secret } of written.generated)
      terminal.print(`New secret of key "${key}" of ${tenant}, shown only once: ${secret}`)
  terminal.tell('Written. Running gateways follow within a second.')
  return exitCodes.done
}

function planJson({ lines, problems, generated }: Plan, written: boolean) {
  return { written, counts: planCounts(lines), rows: lines, problems, generated_keys: generated }
}

/** Writes the gateway.yaml and its .env file. Neither may exist, because an existing file may be in use. */
export function writeYaml(
  { yaml, problems }: Imported,
  { isJson }: ImportOptions,
  path: string,
  terminal: Terminal,
): number {
  if (yaml === undefined) throw new ImportError('--to-yaml cannot be used with this format')
  const envPath = `${path}.env`
  for (const each of [path, envPath]) {
    if (existsSync(each)) throw new ImportError(`${each} already exists. Name another file.`)
  }
  const lines = [...yaml.variables].map(([name, value]) => `${name}=${quoted(name, value)}\n`)
  writeFileSync(envPath, lines.join(''), { mode: 0o600, flag: 'wx' })
  writeFileSync(path, yaml.text, { mode: 0o644, flag: 'wx' })
  if (isJson) terminal.printJson({ yaml: path, env: envPath, problems })
  else terminal.print(planTable({ lines: [], problems }, terminal.look).trimEnd())
  terminal.tell(`Wrote ${path}, and its ${yaml.variables.size} secrets to ${envPath}.`)
  return exitCodes.done
}

/** Quotes a value so that both `node --env-file` and a shell can read it. */
function quoted(name: string, value: string): string {
  if (/^[\w./:@%+=,-]*$/.test(value)) return value
  if (!value.includes("'") && !/[\r\n]/.test(value)) return `'${value}'`
  throw new ImportError(
    `the value of ${name} contains quotes or line breaks, which an .env file cannot represent`,
  )
}
