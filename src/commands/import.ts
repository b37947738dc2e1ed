import { basename } from 'node:path'
import { PlanChangedError } from '../catalog/file-changes.ts'
import { ImportError } from '../imports/problems.ts'
import { command } from './command.ts'
import { messageWithCauses, opening, withDatabase } from './command-database.ts'
import { secretKeysOf } from './command-secrets.ts'
import { CommandError, exitCodes, wrongUsage } from './exit-codes.ts'
import { formats, type ImportOptions, readImportOptions } from './import/options.ts'
import { flag, json, oneOf, required, several, value, whole } from './options.ts'
import type { Terminal } from './terminal.ts'

const tokens = whole(1, 999_999_999)

export const importCommand = command({
  name: 'import',
  group: 'Set up',
  does: 'read an export or dump of new-api or LiteLLM, show a plan, and write it',
  details:
    'FORMAT is one of: new-api, with FILE a JSON export of its tables, an SQL dump or an SQLite file; litellm, with its config.yaml; gateway-yaml, with our own file, whose rows become rows that admins manage. It writes only with --yes or after you confirm on a terminal. Exit code 1: there are conflicts, or nothing was written.',
  changes: true,
  options: {
    keys: value('FILE', "LiteLLM's keys, the JSON of /key/list?return_full_object=true", {
      completes: 'files',
    }),
    keepExisting: flag('leave existing rows as they are, and write only new ones'),
    libraryPrices: flag("use the library's price for models that have none"),
    maxOutputTokens: value('N', 'the output limit of models for which the file has none', { read: tokens }),
    contextLength: value(
      'N',
      'the context length of such models; without both, keys with limited money must limit each answer',
      {
        read: tokens,
      },
    ),
    toYaml: value('FILE', 'write a gateway.yaml instead, with its secrets in FILE.env', {
      completes: 'files',
    }),
    yes: flag('write without asking'),
    json,
  },
  arguments: {
    format: required('FORMAT', formats.join(', '), { completes: formats, read: oneOf(formats) }),
    files: several('FILE', 'the files exported from the other gateway', { completes: 'files' }),
  },
  async run({ options, arguments: named, terminal, env, signal }) {
    try {
      return await importFrom(readImportOptions(options, named), { env, terminal, signal })
    } catch (error) {
      if (error instanceof ImportError) throw notImported(error)
      if (error instanceof PlanChangedError) throw new CommandError(exitCodes.notWell, error.message)
      throw error
    }
  },
})

const notImported = (error: unknown) => wrongUsage(`nothing was imported: ${messageWithCauses(error)}`, error)

/** Any error here is caused by the file. */
function reading<Read>(read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    throw notImported(error)
  }
}

interface Caller {
  env: Record<string, string | undefined>
  terminal: Terminal
  signal: AbortSignal
}

async function importFrom(options: ImportOptions, { env, terminal, signal }: Caller): Promise<number> {
  const [{ readImport }, { prepareKeeper, readKeeper }, { planAndWrite, writeYaml }] = await Promise.all([
    import('./import/read-import.ts'),
    import('../secrets/open-masters.ts'),
    import('./import-plan.ts'),
  ])
  const imported = reading(() => readImport(options, env))
  if (options.yamlFile !== undefined) return writeYaml(imported, options, options.yamlFile, terminal)
  return await withDatabase('import', { env, terminal }, async ({ config, connections }) => {
    const keys = secretKeysOf(config)
    const keeper = await opening(() => readKeeper(connections.sql, keys))
    const terms = {
      keeper,
      from: { format: options.format, file: basename(options.files[0] ?? '') },
      keepsExisting: options.keepsExisting,
      takesOver: options.format === 'gateway-yaml',
      keeperForWriting: () => prepareKeeper(connections.sql, keys),
    }
    return await planAndWrite(connections, imported, options, { terms, terminal, signal })
  })
}
