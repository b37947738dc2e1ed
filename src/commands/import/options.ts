import { ImportError } from '../../imports/problems.ts'

export const formats = ['new-api', 'litellm', 'gateway-yaml'] as const
export type ImportFormat = (typeof formats)[number]

export interface ImportOptions {
  format: ImportFormat
  files: readonly string[]
  /** The file with LiteLLM's keys. */
  keysFile: string | undefined
  isJson: boolean
  writes: boolean
  keepsExisting: boolean
  libraryPrices: boolean
  /** The sizes of models for which the file has none. */
  sizes: { context_length?: number; max_output_tokens?: number }
  /** Writes a gateway.yaml to this path, and nothing to the database. */
  yamlFile: string | undefined
}

/** The values given on the command line. */
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

/** Throws an ImportError if options cannot be combined. */
export function readImportOptions(
  values: GivenImportOptions,
  { format, files }: Pick<ImportOptions, 'format' | 'files'>,
): ImportOptions {
  if (files.length > 1 && format !== 'new-api') throw new ImportError(`${format} accepts only one file`)
  if (values.keys !== undefined && format !== 'litellm')
    throw new ImportError('--keys can be used only with litellm')
  if (values.toYaml !== undefined && format === 'gateway-yaml') {
    throw new ImportError(
      '--to-yaml cannot be used with gateway-yaml, because the file already is a gateway.yaml',
    )
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
