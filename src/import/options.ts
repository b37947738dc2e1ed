import { ImportError } from './problems.ts'

export const formats = ['new-api', 'litellm', 'gateway-yaml'] as const
export type ImportFormat = (typeof formats)[number]

export interface ImportOptions {
  format: ImportFormat
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

/** What is on the command line. */
export interface GivenImportOptions {
  keys: string | undefined
  keepExisting: boolean
  libraryPrices: boolean
  maxOutputTokens: number | undefined
  contextLength: number | undefined
  toYaml: string | undefined
  yes: boolean
  json: boolean
}

/** Throws ImportError for options that do not go together. */
export function readImportOptions(
  values: GivenImportOptions,
  { format, files }: Pick<ImportOptions, 'format' | 'files'>,
): ImportOptions {
  if (files.length > 1 && format !== 'new-api') throw new ImportError(`${format} takes one file`)
  if (values.keys !== undefined && format !== 'litellm') throw new ImportError('--keys is for litellm')
  if (values.toYaml !== undefined && format === 'gateway-yaml') {
    throw new ImportError('--to-yaml is not for gateway-yaml: the file is one already')
  }
  const { maxOutputTokens: max_output_tokens, contextLength: context_length } = values
  return {
    format,
    files,
    keysFile: values.keys,
    isJson: values.json,
    writes: values.yes,
    keepsExisting: values.keepExisting,
    libraryPrices: values.libraryPrices,
    sizes: {
      ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
      ...(context_length === undefined ? {} : { context_length }),
    },
    yamlFile: values.toYaml,
  }
}
