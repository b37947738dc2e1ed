import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, resolve } from 'node:path'
import type { SecretKeeper } from '../secret-key.ts'
import type { GatewayFile } from './gateway-file.ts'
import { readGatewayYaml } from './gateway-yaml.ts'
import { libraryVersion } from './library/bundled.ts'

/** A gateway.yaml as it stands on the disk, read but not yet checked. */
export interface GatewaySource {
  place: FilePlace
  /** Equal when the file means the same: the same text, and the same values of the variables that it names. */
  hash: Buffer
  /** Check it, once. Throws one Error with a line for each problem. */
  parse(): GatewayFile
}

/** The file, and the process that reads it. */
export interface FilePlace {
  path: string
  host: string
  pid: number
}

/** Raise it when the same text makes other rows than before, as by another default: every start then applies its file. */
const readerVersion = 1

type Environment = Record<string, string | undefined>

/** Read the file. Throws an Error for the operator when it cannot be read. */
export function readGatewaySource(path: string, env: Environment, keeper: SecretKeeper): GatewaySource {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`GATEWAY_CONFIG: ${path} cannot be read`, { cause })
  }
  return gatewaySource(text, { path, env, keeper })
}

/** A file with this text. */
export function gatewaySource(
  text: string,
  { path, env, keeper }: { path: string; env: Environment; keeper: SecretKeeper },
): GatewaySource {
  let file: GatewayFile | undefined
  return {
    place: { path: resolve(path), host: hostname(), pid: process.pid },
    hash: hashOf(text, env, keeper),
    parse() {
      file ??= readGatewayYaml(text, { path: basename(path), env })
      return file
    },
  }
}

/** Keyed, because the file has secrets that could be guessed from a plain hash; so it also tells one SECRET_KEY from another. */
function hashOf(text: string, env: Environment, keeper: SecretKeeper): Buffer {
  const names = new Set([...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name ?? ''))
  const variables = [...names].sort().map((name) => [name, env[name] ?? null])
  return createHmac('sha256', keeper.fileKey)
    .update(JSON.stringify([readerVersion, libraryVersion, variables]))
    .update('\0')
    .update(text)
    .digest()
}
