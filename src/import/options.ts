import { parseArgs } from 'node:util'
import { ImportError } from './problems.ts'

export const formats = ['new-api', 'litellm', 'gateway-yaml'] as const
export type Format = (typeof formats)[number]

export interface ImportOptions {
  format: Format
  files: readonly string[]
  /** LiteLLM's keys. */
  keysFile: string | undefined
  isJson: boolean
  writes: boolean
  keepsExisting: boolean
  libraryPrices: boolean
  /** Of models whose size the file does not say. */
  sizes: { context_length?: number; max_output_tokens?: number }
  /** Write a gateway.yaml there, and nothing into the database. */
  yamlFile: string | undefined
}

export const usage = `Usage: npm run import -- new-api|litellm|gateway-yaml FILE... [options]

Reads another gateway's export or dump, and shows what it would write. Writes nothing without --yes.

  new-api FILE...      tables as JSON, a dump in SQL, or an SQLite file
  litellm FILE         config.yaml
  gateway-yaml FILE    our own file: its rows become rows that admins manage

  --keys FILE          LiteLLM's keys, the JSON of /key/list?return_full_object=true
  --keep-existing      leave rows that exist as they are, and write only new ones
  --library-prices     models without a price get that of the library
  --max-output-tokens N, --context-length N
                       sizes of models for which the file has none: without them, a key with limited money must say in
                       each request how long the answer may get
  --to-yaml FILE       write a gateway.yaml instead, and its secrets to FILE.env
  --yes                write it, without a question
  --json               print the plan as JSON
  --help               this text

The database is that of the environment: DATABASE_URL, SECRET_KEY, DATA_DIR.
Exit code: 0 written, or nothing to write, 1 conflicts, or not written, 2 bad usage or a file that cannot be read.
`

/** Undefined when only help is asked for. Throws ImportError. */
export function readImportOptions(args: readonly string[]): ImportOptions | undefined {
  const { values, positionals } = parse(args)
  if (values.help) return undefined
  const [name, ...files] = positionals
  const format = formats.find((one) => one === name)
  if (format === undefined)
    throw new ImportError(`say what to import: ${formats.join(', ')}. --help shows all options`)
  if (files.length === 0) throw new ImportError(`name the file: npm run import -- ${format} FILE`)
  if (files.length > 1 && format !== 'new-api') throw new ImportError(`${format} takes one file`)
  if (values.keys !== undefined && format !== 'litellm') throw new ImportError('--keys is for litellm')
  if (values['to-yaml'] !== undefined && format === 'gateway-yaml') {
    throw new ImportError('--to-yaml is not for gateway-yaml: the file is one already')
  }
  return {
    format,
    files,
    keysFile: values.keys,
    isJson: values.json === true,
    writes: values.yes === true,
    keepsExisting: values['keep-existing'] === true,
    libraryPrices: values['library-prices'] === true,
    sizes: {
      ...sizeOf('max_output_tokens', values['max-output-tokens']),
      ...sizeOf('context_length', values['context-length']),
    },
    yamlFile: values['to-yaml'],
  }
}

function sizeOf(name: keyof ImportOptions['sizes'], text: string | undefined): ImportOptions['sizes'] {
  if (text === undefined) return {}
  if (/^[1-9]\d{0,8}$/.test(text)) return { [name]: Number(text) }
  throw new ImportError(`--${name.replaceAll('_', '-')} must be a number of tokens`)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        keys: { type: 'string' },
        'keep-existing': { type: 'boolean' },
        'library-prices': { type: 'boolean' },
        'max-output-tokens': { type: 'string' },
        'context-length': { type: 'string' },
        'to-yaml': { type: 'string' },
        yes: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new ImportError(error instanceof Error ? error.message : String(error))
  }
}
