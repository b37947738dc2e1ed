import { randomBytes, randomUUIDv7 } from 'node:crypto'
import type { KeyRing } from '../canonical/key-ring.ts'
import { byFile, differences, noChanges, type Writing } from '../catalog/file-changes.ts'
import type { KeyEntry, TenantEntry } from '../catalog/gateway-file.ts'
import { readTenants, type Transaction } from '../catalog/queries.ts'
import { settingsOfKeys } from '../db/settings/key-settings.ts'
import { toRow } from '../db/settings/setting.ts'
import { settingsOfTenants } from '../db/settings/tenant-settings.ts'
import { carryBlocks, type WrittenKey } from './key-block-queries.ts'
import { hashKeySecret, keyHint, makeKeySecret } from './key-secret.ts'
import {
  addKeys,
  addTenants,
  changeKeys,
  changeTenants,
  disableKeys,
  disableTenants,
  type KeyRow,
  type NewTenant,
  openBalance,
  readKeys,
  setLimited,
} from './queries.ts'

/** A key with a generated secret. The secret is not stored, so it cannot be shown again. */
export interface GeneratedKey {
  tenant: string
  key: string
  secret: string
}

interface Options {
  /** The ids of the groups, by name. */
  groupIds: ReadonlyMap<string, string>
  peppers: KeyRing
  /** Default: `byFile`. */
  writing?: Writing
}

/**
 * Writes the tenants of a file with their accounts and keys, and disables those of an earlier file that are
 * missing from this one. Only changes rows that differ, in batches. Returns the generated keys and the
 * changes. When it writes for an admin, it disables nothing.
 */
export async function applyTenants(
  tx: Transaction,
  tenants: TenantEntry[],
  { groupIds, peppers, writing = byFile }: Options,
) {
  const pepper = peppers.current
  const tenantRows = await readTenants(tx)
  const { tenantIds, changes: tenantChanges } = await writeTenants(tx, tenantRows, tenants, writing)

  const wanted = tenants.flatMap((tenant) =>
    tenant.keys.map((key) => ({
      tenant: tenant.name,
      tenantId: idOf(tenantIds, tenant.name),
      groupId: idOf(groupIds, key.group),
      key,
      secretHash: key.secret === undefined ? undefined : hashKeySecret(key.secret, pepper),
      formerHashes: peppers.former.flatMap(({ key: former }) =>
        key.secret === undefined ? [] : hashKeySecret(key.secret, former),
      ),
    })),
  )
  const hashes = wanted.flatMap(hashesOf)
  const keyRows = await readKeys(tx, [...tenantIds.values()], hashes)
  const byName = new Map(keyRows.map((row) => [placeOf(row), row]))
  const pairs = wanted.map((want) => ({ want, row: byName.get(placeOf({ ...want, name: want.key.name })) }))
  await freeSecrets(tx, keyRows, pairs)
  const { generated, changes: keyChanges, written } = await writeKeys(tx, pairs, pepper, writing)
  await carryBlocks(tx, written)
  if (writing.managedBy !== 'file')
    return { generated, changes: { tenants: tenantChanges, keys: keyChanges } }

  const kept = new Set(pairs.map(({ row }) => row))
  const leftKeys = keyRows.filter((row) => isLive(row) && !kept.has(row))
  const keyIds = leftKeys.map(({ id }) => id)
  if (keyIds.length > 0) await disableKeys(tx, keyIds)
  const tenantOf = new Map(tenantRows.map(({ id, name }) => [id, name]))
  keyChanges.removed = leftKeys.map(({ tenantId, name }) => shownKey(tenantOf.get(tenantId), name))
  const left = tenantRows.filter((row) => isLive(row) && !tenantIds.has(row.name))
  const leftIds = left.map(({ id }) => id)
  if (leftIds.length > 0) await disableTenants(tx, leftIds)
  tenantChanges.removed = left.map(({ name }) => name)
  return { generated, changes: { tenants: tenantChanges, keys: keyChanges } }
}

/** The name of a key as people see it. */
export const shownKey = (tenant: string | undefined, name: string) => `${tenant}/${name}`

const isLive = (row: { managedBy: string; disabledAt: Date | null }) =>
  row.managedBy === 'file' && row.disabledAt === null

type TenantRow = Awaited<ReturnType<typeof readTenants>>[number]

async function writeTenants(tx: Transaction, rows: TenantRow[], tenants: TenantEntry[], writing: Writing) {
  const changes = noChanges()
  const rowOf = new Map(rows.map((row) => [row.name, row]))
  const tenantIds = new Map<string, string>()
  const fresh: NewTenant[] = []
  const changed: NewTenant['row'][] = []
  const opening: { id: string; balance: bigint }[] = []
  for (const tenant of tenants) {
    const { name, balance } = tenant
    const existing = rowOf.get(name)
    const id = existing?.id ?? randomUUIDv7()
    tenantIds.set(name, id)
    const row = { ...toRow(settingsOfTenants, tenant, existing), managedBy: writing.managedBy }
    if (existing === undefined) {
      writing.report('tenants', name, 'create', [])
      changes.added.push(name)
      fresh.push({ row: { id, name, ...row }, balance })
      continue
    }
    if (writing.keepsExisting) {
      writing.report('tenants', name, 'skip', [])
      continue
    }
    const limited = balance !== undefined
    if (existing.managedBy === 'admin' && writing.managedBy === 'file') changes.taken_over.push(name)
    const members = differences<Omit<TenantRow, 'limited'>>(existing, row)
    const isOther = members.length > 0
    if (existing.limited !== limited) members.push('limited')
    writing.report('tenants', name, members.length === 0 ? 'skip' : 'change', members, existing)
    if (isOther) changed.push({ id, name, ...row })
    if (existing.limited !== limited) await setLimited(tx, id, limited)
    if (balance !== undefined && !existing.limited) opening.push({ id, balance })
    if (existing.disabledAt !== null && row.disabledAt === null) changes.added.push(name)
    else if (isOther || existing.limited !== limited) changes.changed.push(name)
  }
  await addTenants(tx, fresh)
  await changeTenants(tx, changed)
  for (const { id, balance } of opening) await openBalance(tx, id, balance)
  return { tenantIds, changes }
}

interface WantedKey {
  tenant: string
  tenantId: string
  groupId: string
  key: KeyEntry
  /** Undefined: any secret is accepted. */
  secretHash: Buffer | undefined
  /** The hashes of the same secret under former master keys, any of which an existing row may still have. */
  formerHashes: readonly Buffer[]
}

function hashesOf({ secretHash, formerHashes }: WantedKey): Buffer[] {
  return secretHash === undefined ? [] : [secretHash, ...formerHashes]
}

/** A key of the file, and the existing row with the same tenant and name, if any. */
interface Pair {
  want: WantedKey
  row: KeyRow | undefined
}

const placeOf = ({ tenantId, name }: { tenantId: string; name: string }) => `${tenantId}/${name}`

/**
 * Handles a secret that moves from one key of the file to another, for example when a key is renamed: the old
 * row gets a hash that matches no secret. A key that is not managed by the file keeps its secret.
 */
async function freeSecrets(tx: Transaction, rows: KeyRow[], pairs: Pair[]) {
  const holders = new Map(rows.map((row) => [row.secretHash.toString('hex'), row]))
  const freed: KeyRow[] = []
  for (const { want, row } of pairs) {
    for (const hash of hashesOf(want)) {
      const holder = holders.get(hash.toString('hex'))
      if (holder === undefined || holder === row) continue
      if (holder.managedBy !== 'file') {
        throw new Error(
          `The secret of key "${want.key.name}" of tenant "${want.tenant}" already belongs to another key, ` +
            `"${holder.name}", which is not managed by the file. Choose another secret.`,
        )
      }
      holder.secretHash = randomBytes(32)
      freed.push(holder)
    }
  }
  await changeKeys(tx, freed)
}

async function writeKeys(tx: Transaction, pairs: Pair[], pepper: Buffer, writing: Writing) {
  const changes = noChanges()
  const generated: GeneratedKey[] = []
  const fresh: KeyRow[] = []
  const changed: KeyRow[] = []
  const written: WrittenKey[] = []
  for (const { want, row } of pairs) {
    if (row?.parentId === null && row.revokedAt !== null) {
      throw new Error(
        `The key "${want.key.name}" of tenant "${want.tenant}" was revoked through the admin API, which is final. Choose another name.`,
      )
    }
    if (row !== undefined && row.parentId !== null) {
      throw new Error(
        `The key "${want.key.name}" of tenant "${want.tenant}" is a sub-key: the holder of the parent key knows its secret and can revoke it. ` +
          'Choose another name, or rename the sub-key through the admin API.',
      )
    }
    const settings = settingsOf(want, row, writing)
    const shown = shownKey(want.tenant, want.key.name)
    if (row === undefined) {
      const secret = want.key.secret ?? makeKeySecret()
      const made = { ...newKey(want, secret, pepper), ...settings }
      fresh.push(made)
      written.push({ keyId: made.id, hashes: hashesOf(want) })
      writing.report('keys', shown, 'create', [])
      changes.added.push(shown)
      if (want.key.secret === undefined) generated.push({ tenant: want.tenant, key: want.key.name, secret })
      continue
    }
    if (!writing.keepsExisting) written.push({ keyId: row.id, hashes: hashesOf(want) })
    const members = writing.keepsExisting ? [] : differences(row, settings)
    writing.report('keys', shown, members.length === 0 ? 'skip' : 'change', members, row)
    if (members.length === 0) continue
    changed.push({ ...row, ...settings })
    changes.changed.push(shown)
    if (row.managedBy === 'admin' && writing.managedBy === 'file') changes.taken_over.push(shown)
  }
  await addKeys(tx, fresh)
  await changeKeys(tx, changed)
  return { generated, changes, written }
}

function newKey({ tenantId, key, secretHash }: WantedKey, secret: string, pepper: Buffer) {
  return {
    id: randomUUIDv7(),
    tenantId,
    name: key.name,
    secretHash: secretHash ?? hashKeySecret(secret, pepper),
    hint: keyHint(secret),
    formerSecretHash: null,
    formerSecretUntil: null,
    revokedAt: null,
    parentId: null,
    createdAt: new Date(),
    // Set by a trigger.
    revision: 0,
  }
}

/**
 * Returns a key's columns as stated by the file. A key without a secret in the file keeps its existing
 * secret.
 */
function settingsOf(
  { key, groupId, secretHash }: WantedKey,
  existing: KeyRow | undefined,
  { managedBy }: Writing,
) {
  // An import without the secret does not affect a rotation by an admin.
  const endsFormer = managedBy === 'file' || key.secret !== undefined
  return {
    groupId,
    ...toRow(settingsOfKeys, key, existing),
    // A member cannot enable a key that the file disables.
    disabledByMember: false,
    managedBy,
    ...(endsFormer && { formerSecretHash: null, formerSecretUntil: null }),
    ...(key.secret !== undefined && secretHash !== undefined && { secretHash, hint: keyHint(key.secret) }),
  }
}

function idOf(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`"${name}" is unknown; readGatewayYaml should have rejected it`)
  return id
}
