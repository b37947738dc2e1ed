import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import type { GatewayFile } from './gateway-file.ts'
import { readGatewayYaml } from './gateway-yaml.ts'
import { libraryVersion } from './library/bundled.ts'
import { namedFilesIn, readNamedFile } from './named-file.ts'
import type { TimeoutBounds } from './read-connection.ts'
import { vendors } from './traits/vendors.ts'

/** A gateway.yaml that has been read from disk but not yet checked. */
export interface GatewaySource {
  place: FilePlace
  /** The absolute paths of the files that it names. */
  files: readonly string[]
  /**
   * Returns a hash that is equal for files with the same meaning: the same text, and the same values of the
   * variables and files that it names.
   */
  hashWith(key: Buffer): Buffer
  /** Checks the file, once. Throws one Error with a line for each problem. */
  parse(): GatewayFile
}

/** The location of the file, and the process that reads it. */
export interface FilePlace {
  path: string
  host: string
  pid: number
}

/**
 * Increase this when the same text produces different rows than before, for example because of a new default.
 * Every start then applies its file.
 */
const readerVersion = 1

type Environment = Record<string, string | undefined>

/**
 * Reads the file. Throws an Error for the operator if it cannot be read. `bounds` are this process's
 * timeouts.
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

/** Returns a source with the given text. */
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
 * Keyed, because a plain hash would allow guessing the secrets in the file. A side effect is that the hash
 * changes with the master key.
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

/** The base URLs that a vendor name in the text stands for, because they may differ in another release. */
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
