import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { vendors } from '../traits/vendors.ts'
import type { GatewayFile } from './gateway-file.ts'
import { readGatewayYaml } from './gateway-yaml.ts'
import { libraryVersion } from './library/bundled.ts'
import { namedFilesIn, readNamedFile } from './named-file.ts'
import type { TimeoutBounds } from './read-connection.ts'

/** A gateway.yaml as it is on disk, read but not yet checked. */
export interface GatewaySource {
  place: FilePlace
  /** Absolute paths of the files that it names. */
  files: readonly string[]
  /**
   * Equal when the file means the same: the same text, and the same values of the variables and files that it
   * names.
   */
  hashWith(key: Buffer): Buffer
  /** Check it, once. Throws one Error with a line for each problem. */
  parse(): GatewayFile
}

/** The file, and the process that reads it. */
export interface FilePlace {
  path: string
  host: string
  pid: number
}

/**
 * Raise it when the same text makes other rows than before, as by another default: every start then applies
 * its file.
 */
const readerVersion = 1

type Environment = Record<string, string | undefined>

/**
 * Read the file. Throws an Error for the operator when it cannot be read. `bounds` are those of this process.
 */
export function readGatewaySource(path: string, env: Environment, bounds?: TimeoutBounds): GatewaySource {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`GATEWAY_CONFIG: ${path} cannot be read`, { cause })
  }
  return gatewaySource(text, { path, env, bounds })
}

/** A file with this text. */
export function gatewaySource(
  text: string,
  { path, env, bounds }: { path: string; env: Environment; bounds?: TimeoutBounds | undefined },
): GatewaySource {
  const names = namedFilesIn(text, env)
  const placeOf = (name: string) => resolve(dirname(path), name)
  const readFile = (name: string) => readNamedFile(placeOf(name))
  let file: GatewayFile | undefined
  return {
    place: { path: resolve(path), host: hostname(), pid: process.pid },
    files: names.map(placeOf),
    hashWith: (key) =>
      hashOf(
        text,
        env,
        key,
        names.map((name) => contentOf(name, readFile)),
      ),
    parse() {
      file ??= readGatewayYaml(text, { path: basename(path), env, readFile, bounds })
      return file
    },
  }
}

/**
 * Keyed, because the file has secrets that could be guessed from a plain hash; so it also tells one master
 * key from another.
 */
function hashOf(text: string, env: Environment, key: Buffer, contents: readonly string[]): Buffer {
  const names = new Set([...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name ?? ''))
  const variables = [...names].sort().map((name) => [name, env[name] ?? null])
  return createHmac('sha256', key)
    .update(JSON.stringify([readerVersion, libraryVersion, variables, ...contents, ...vendorsIn(text)]))
    .update('\0')
    .update(text)
    .digest()
}

/** Base URLs that the text may mean by a vendor's name: another release may know others. */
function vendorsIn(text: string): unknown[] {
  return /\bvendor\b/.test(text) ? [Object.values(vendors).map(({ baseUrls }) => baseUrls)] : []
}

function contentOf(name: string, readFile: (name: string) => string): string {
  try {
    return readFile(name)
  } catch {
    return ''
  }
}
