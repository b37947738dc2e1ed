import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { readGatewaySource } from '../../catalog/gateway-source.ts'
import type { Imported } from './imported.ts'
import { draftFromLiteLlm } from './lite-llm.ts'
import { draftFromNewApi } from './new-api.ts'
import { readTables } from './new-api-tables.ts'
import type { ImportOptions } from './options.ts'
import { ImportError, Problems } from './problems.ts'
import { settle } from './settle.ts'

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
  const problems = new Problems()
  const terms = { env, forYaml: yamlFile !== undefined, libraryPrices, sizes }
  switch (format) {
    case 'new-api':
      return settle(draftFromNewApi(readTables(files), problems), problems, terms)
    case 'litellm': {
      const keys = keysFile === undefined ? undefined : readFileSync(keysFile, 'utf8')
      return settle(
        draftFromLiteLlm({ config: readFileSync(file, 'utf8'), keys, env }, problems),
        problems,
        terms,
      )
    }
    case 'gateway-yaml': {
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
