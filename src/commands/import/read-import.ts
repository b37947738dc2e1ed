import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { readGatewaySource } from '../../catalog/gateway-source.ts'
import type { ImportFile } from '../../imports/import-file.ts'
import type { Imported } from '../../imports/imported.ts'
import { mergedTables, readTables } from '../../imports/new-api-tables.ts'
import { ImportError, Problems } from '../../imports/problems.ts'
import { readLiteLlm, readNewApi } from '../../imports/read-export.ts'
import type { Tables } from '../../imports/sql-dump.ts'
import type { ImportOptions } from './options.ts'
import { readSqlite } from './sqlite.ts'

/** A dump that includes the log is far larger, but the log is not imported. */
const fileBytesMax = 256 * 1024 * 1024

/**
 * Reads the export of another gateway. Throws an Error with a message for the operator if nothing in it can
 * be imported.
 */
export function readImport(
  { format, files, keysFile, libraryPrices, sizes, yamlFile }: ImportOptions,
  env: Readonly<Record<string, string | undefined>>,
): Imported {
  for (const path of [...files, ...(keysFile === undefined ? [] : [keysFile])]) checkFile(path)
  const [file = ''] = files
  const terms = { env, forYaml: yamlFile !== undefined, libraryPrices, sizes }
  switch (format) {
    case 'new-api':
      return readNewApi(mergedTables(files.map(tablesOf)), terms)
    case 'litellm':
      return readLiteLlm(
        { config: textOf(file), keys: keysFile === undefined ? undefined : textOf(keysFile) },
        terms,
      )
    case 'gateway-yaml': {
      const problems = new Problems()
      problems.note(
        'gateway.yaml',
        'stop using the file after the import: start without GATEWAY_CONFIG, or the file takes its rows back',
      )
      return {
        file: readGatewaySource(file, env).parse(),
        disabledChannels: new Set(),
        problems: problems.list,
        yaml: undefined,
      }
    }
  }
}

function textOf(path: string): ImportFile {
  return { name: basename(path), text: readFileSync(path, 'utf8') }
}

function tablesOf(path: string): Tables {
  const bytes = readFileSync(path)
  if (bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3') return readSqlite(path)
  return readTables({ name: basename(path), text: bytes.toString('utf8') })
}

function checkFile(path: string): void {
  let bytes: number
  try {
    bytes = statSync(path).size
  } catch (cause) {
    throw new ImportError(`cannot read ${path}: the file does not exist`, { cause })
  }
  if (bytes <= fileBytesMax) return
  throw new ImportError(
    `${basename(path)}: expected at most 256 MiB, got ${Math.round(bytes / 1024 / 1024)} MiB. Dump only the tables that are imported, for example with pg_dump -t channels -t tokens -t users -t options`,
  )
}
