import type { Sql } from 'postgres'
import { isUnknownName } from '../db/failures.ts'
import {
  addMaster,
  addWrappings,
  type MasterRow,
  type MasterRows,
  readMasters,
  sealersOfCredentials,
} from './master-key-queries.ts'
import { idOfSecret, type MasterSecret, SecretKeeper, unwrapMaster, wrapMaster } from './secret-key.ts'

/** The keys that the operator provides: SECRET_KEY, and the previous one while it is being replaced. */
export interface SecretKeys {
  secretKey: string
  secretKeyPrevious?: string | undefined
}

/** The decrypted master keys of a database. */
export interface OpenMasters {
  revision: number
  /** The key that seals new values. */
  current: string
  former: readonly MasterSecret[]
  /** The id of the newest key, which may not be used for sealing yet. */
  newestId: string
}

/**
 * Returns the keeper for this database, without writing anything. If the tables are missing or empty,
 * SECRET_KEY is the master key, as it was before master keys existed. Throws an Error for the operator if
 * SECRET_KEY does not open the master keys.
 */
export async function readKeeper(sql: Sql, keys: SecretKeys): Promise<SecretKeeper> {
  const rows = await readMasters(sql).catch((error: unknown) => {
    if (isUnknownName(error)) return undefined
    throw error
  })
  if (rows === undefined || rows.masters.length === 0) return new SecretKeeper(await firstMaster(sql, keys))
  const { current, former } = openMasters(rows, keys)
  return new SecretKeeper(current, former)
}

/**
 * Like readKeeper, for a migrated database. Stores the first master key, and wraps with SECRET_KEY every
 * master key that only the previous one wraps. The wrappings by the previous one stay, because other
 * processes may still use it.
 */
export async function prepareKeeper(sql: Sql, keys: SecretKeys): Promise<SecretKeeper> {
  let rows = await readMasters(sql)
  if (rows.masters.length === 0) {
    const master = await firstMaster(sql, keys)
    await addMaster(sql, { id: idOfSecret(master), used: true, wrappings: wrappingsOf(master, keys) })
    rows = await readMasters(sql)
  }
  const { current, former } = openMasters(rows, keys)
  await wrapBySecretKey(sql, rows, keys)
  return new SecretKeeper(current, former)
}

/** A master key wrapped with each key that the operator provides. */
export function wrappingsOf(master: string, { secretKey, secretKeyPrevious }: SecretKeys) {
  return [secretKey, ...(secretKeyPrevious === undefined ? [] : [secretKeyPrevious])].map((by) => ({
    masterId: idOfSecret(master),
    wrappedBy: idOfSecret(by),
    wrapped: wrapMaster(master, by),
  }))
}

/** Throws an Error for the operator if the keys do not open all master keys. */
export function openMasters({ revision, masters }: MasterRows, keys: SecretKeys): OpenMasters {
  const opened = masters.map((row) => ({ ...row, secret: openMaster(row, keys) }))
  const used = opened
    .filter(({ usedFrom }) => usedFrom !== null)
    .sort((a, b) => timeOf(a.usedFrom) - timeOf(b.usedFrom))
  const [current, newest] = [used.at(-1), opened.at(-1)]
  if (current === undefined || newest === undefined)
    throw new Error('no master key of this database is in use')
  const retiredMs = (id: string) => {
    const at = used.findIndex((one) => one.id === id)
    return at === -1 ? Number.POSITIVE_INFINITY : timeOf(used[at + 1]?.usedFrom ?? null)
  }
  const former = opened
    .filter(({ id }) => id !== current.id)
    .map(({ id, secret }) => ({ secret, retiredMs: retiredMs(id) }))
  return { revision, current: current.secret, former, newestId: newest.id }
}

function timeOf(moment: Date | null): number {
  return moment?.getTime() ?? Number.POSITIVE_INFINITY
}

function openMaster({ id, wrappings }: MasterRow, { secretKey, secretKeyPrevious }: SecretKeys): string {
  for (const key of [secretKey, secretKeyPrevious]) {
    const wrapping = wrappings.find(({ wrappedBy }) => key !== undefined && wrappedBy === idOfSecret(key))
    if (key === undefined || wrapping === undefined) continue
    try {
      return unwrapMaster(Buffer.from(wrapping.wrapped, 'hex'), id, key)
    } catch (cause) {
      throw new Error(
        `master key ${id}, wrapped by SECRET_KEY ${wrapping.wrappedBy}, is damaged in the database`,
        { cause },
      )
    }
  }
  const wrappedBy = wrappings.map((one) => one.wrappedBy)
  throw new Error(
    wrongKey(`are wrapped by SECRET_KEY ${wrappedBy.join(' and ')}`, secretKey, secretKeyPrevious),
  )
}

function wrongKey(how: string, secretKey: string, previous: string | undefined): string {
  const other = previous === undefined ? '' : ` and SECRET_KEY_PREVIOUS ${idOfSecret(previous)}`
  return (
    `the secrets in this database ${how}, but this process has SECRET_KEY ${idOfSecret(secretKey)}${other}. ` +
    'Start with the original SECRET_KEY; to replace it, also set the original one as SECRET_KEY_PREVIOUS'
  )
}

/** The first master key is the SECRET_KEY that was in use before the database had master keys. */
async function firstMaster(sql: Sql, { secretKey, secretKeyPrevious }: SecretKeys): Promise<string> {
  const sealers: string[] = await sealersOfCredentials(sql).catch((error: unknown) => {
    if (isUnknownName(error)) return []
    throw error
  })
  if (sealers.length === 0) return secretKeyPrevious ?? secretKey
  const given = secretKeyPrevious === undefined ? [secretKey] : [secretKey, secretKeyPrevious]
  const known = given.find((key) => sealers.includes(idOfSecret(key)))
  if (known !== undefined) return known
  throw new Error(
    wrongKey(`are sealed with SECRET_KEY ${sealers.join(' and ')}`, secretKey, secretKeyPrevious),
  )
}

async function wrapBySecretKey(sql: Sql, { masters }: MasterRows, keys: SecretKeys): Promise<void> {
  const id = idOfSecret(keys.secretKey)
  const missing = masters.filter(({ wrappings }) => !wrappings.some(({ wrappedBy }) => wrappedBy === id))
  if (missing.length === 0) return
  const added = missing.map((row) => ({
    masterId: row.id,
    wrappedBy: id,
    wrapped: wrapMaster(openMaster(row, keys), keys.secretKey),
  }))
  await addWrappings(sql, added)
}
