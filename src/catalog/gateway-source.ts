import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { vendors } from '../traits/vendors.ts'
import type { GatewayFile } from './gateway-file.ts'
import { readGatewayYaml } from './gateway-yaml.ts'
import { libraryVersion } from './library/bundled.ts'
import type { TimeoutBounds } from './read-connection.ts'

/** A gateway.yaml as it stands on the disk, read but not yet checked. */
export interface GatewaySource {
  place: FilePlace
  /** Equal when the file means the same: the same text, and the same values of the variables and files that it names. */
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

/** Raise it when the same text makes other rows than before, as by another default: every start then applies its file. */
const readerVersion = 1

type Environment = Record<string, string | undefined>

/** Read the file. Throws an Error for the operator when it cannot be read. `bounds` are those of this process. */
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
  const readFile = (name: string) => readFileSync(resolve(dirname(path), name), 'utf8')
  let file: GatewayFile | undefined
  return {
    place: { path: resolve(path), host: hostname(), pid: process.pid },
    hashWith: (key) => hashOf(text, env, key, readFile),
    parse() {
      file ??= readGatewayYaml(text, { path: basename(path), env, readFile, bounds })
      return file
    },
  }
}

/** Keyed, because the file has secrets that could be guessed from a plain hash; so it also tells one master key from another. */
function hashOf(text: string, env: Environment, key: Buffer, readFile: (name: string) => string): Buffer {
  const names = new Set([...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name ?? ''))
  const variables = [...names].sort().map((name) => [name, env[name] ?? null])
  return createHmac('sha256', key)
    .update(
      JSON.stringify([
        readerVersion,
        libraryVersion,
        variables,
        ...filesIn(text, env, readFile),
        ...vendorsIn(text),
      ]),
    )
    .update('\0')
    .update(text)
    .digest()
}

/** Base URLs that the text may mean by a vendor's name: another release may know others. */
function vendorsIn(text: string): unknown[] {
  return /\bvendor\b/.test(text) ? [Object.values(vendors).map(({ baseUrls }) => baseUrls)] : []
}

/**
 * The contents of the files that the text names, found without parsing it: that takes long for a large file, and most starts
 * need it not. Contents that are read in vain, as those named in a comment, do no harm.
 */
function filesIn(text: string, env: Environment, readFile: (name: string) => string): string[] {
  const named = text.matchAll(
    /\b(?:ca|cert|key)_file["']?[ \t]*:[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s,}#]+))/g,
  )
  return [...named].map(([, double, single, plain]) => {
    const name = (double ?? single ?? plain ?? '').replace(
      /\$\{(\w+)\}/g,
      (_, variable: string) => env[variable] ?? '',
    )
    try {
      return readFile(name)
    } catch {
      return ''
    }
  })
}
