import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { isRecord } from '../canonical/json.ts'
import { type Path, readYaml, type YamlSource } from '../catalog/yaml-source.ts'
import type { FileInForce } from './gateway-file-queries.ts'

/** An entry of gateway.yaml, identified by the names that it has there. */
export type FileEntry =
  | { kind: 'model' | 'channel' | 'group' | 'tenant'; name: string }
  | { kind: 'key'; name: string; tenant: string }
  | { kind: 'prices' }

/** The gateway.yaml that this process reads. */
export interface OwnFile {
  path: string
  environment: Readonly<Record<string, string | undefined>>
}

/** Parsing a larger file would delay this process's requests; see follow-gateway-file.ts. */
const fileBytesMax = 512 * 1024

/**
 * Returns for example `/etc/tollgate/gateway.yaml:41`, or `/etc/tollgate/gateway.yaml on host-2` if this
 * process reads another file or none.
 */
export async function placeOfEntry(
  inForce: Pick<FileInForce, 'path' | 'host'> | undefined,
  own: OwnFile | undefined,
  entry: FileEntry,
): Promise<string> {
  if (inForce === undefined) return 'gateway.yaml'
  const { path, host } = inForce
  if (own === undefined || resolve(own.path) !== path) return `${path} on ${host}`
  const line = await lineOfEntry(own, entry).catch(() => undefined)
  if (line !== undefined) return `${path}:${line}`
  return host === hostname() ? path : `${path} on ${host}`
}

/** Returns undefined if the file no longer contains the entry or is too large. */
async function lineOfEntry({ path, environment }: OwnFile, entry: FileEntry): Promise<number | undefined> {
  if ((await stat(path)).size > fileBytesMax) return undefined
  const source = readYaml(await readFile(path, 'utf8'), environment)
  const found = pathOf(source, entry)
  return found === undefined ? undefined : source.lineOf(found)
}

function pathOf({ data }: YamlSource, entry: FileEntry): Path | undefined {
  switch (entry.kind) {
    case 'model':
      return pathIn(data, 'models', 'id', entry.name)
    case 'channel':
    case 'group':
    case 'tenant':
      return pathIn(data, `${entry.kind}s`, 'name', entry.name)
    case 'key': {
      const tenant = pathIn(data, 'tenants', 'name', entry.tenant)
      const [section = '', index = 0] = tenant ?? []
      const key = pathIn(listIn(data, section)[Number(index)], 'keys', 'name', entry.name)
      return tenant === undefined || key === undefined ? undefined : [...tenant, ...key]
    }
    case 'prices':
      return isRecord(data) && 'prices' in data ? ['prices'] : undefined
  }
}

function pathIn(data: unknown, section: string, property: string, name: string): Path | undefined {
  const index = listIn(data, section).findIndex((item) => isRecord(item) && item[property] === name)
  return index < 0 ? undefined : [section, index]
}

function listIn(data: unknown, section: string | number): readonly unknown[] {
  const list = isRecord(data) ? data[section] : undefined
  return Array.isArray(list) ? list : []
}
