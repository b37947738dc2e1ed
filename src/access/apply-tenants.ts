import { randomBytes, randomUUIDv7 } from 'node:crypto'
import type { KeyRing } from '../canonical/key-ring.ts'
import { byFile, differences, noChanges, type Writing } from '../catalog/file-changes.ts'
import type { KeyEntry, TenantEntry } from '../catalog/gateway-file.ts'
import { budgetColumns, limitColumns } from '../catalog/limit-columns.ts'
import { readTenants, type Transaction } from '../catalog/queries.ts'
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

/** A key whose secret was generated. We do not store the secret, and cannot show it again. */
export interface GeneratedKey {
  tenant: string
  key: string
  secret: string
}

interface Options {
  /** Ids of groups by name. */
  groupIds: ReadonlyMap<string, string>
  peppers: KeyRing
  /** Default: gateway.yaml. */
  writing?: Writing
}

/**
 * Write the tenants of a file, with their accounts and keys, and disable those of an earlier file that this one leaves out.
 * Changes only rows that differ, many in one statement. Answers the keys that it generated, and what it changed. For an admin it
 * disables nothing.
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
  const { generated, changes: keyChanges } = await writeKeys(tx, pairs, pepper, writing)
  if (writing.managedBy !== 'file')
    return { generated, changes: { tenants: tenantChanges, keys: keyChanges } }

  const kept = new Set(pairs.map(({ row }) => row))
  const keyIds = keyRows.filter((row) => isLive(row) && !kept.has(row)).map(({ id }) => id)
  if (keyIds.length > 0) await disableKeys(tx, keyIds)
  keyChanges.removed = keyIds.length
  const leftIds = tenantRows.filter((row) => isLive(row) && !tenantIds.has(row.name)).map(({ id }) => id)
  if (leftIds.length > 0) await disableTenants(tx, leftIds)
  tenantChanges.removed = leftIds.length
  return { generated, changes: { tenants: tenantChanges, keys: keyChanges } }
}

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
  for (const { name, limits, balance } of tenants) {
    const existing = rowOf.get(name)
    const id = existing?.id ?? randomUUIDv7()
    tenantIds.set(name, id)
    const row = { ...limitColumns(limits), disabledAt: null, managedBy: writing.managedBy }
    if (existing === undefined) {
      changes.added++
      writing.told('tenants', name, 'create', [])
      fresh.push({ row: { id, name, ...row }, balance })
      continue
    }
    if (writing.keepsExisting) {
      writing.told('tenants', name, 'skip', [])
      continue
    }
    const limited = balance !== undefined
    const others = differences<Omit<TenantRow, 'limited'>>(existing, row)
    const isOther = others.length > 0
    if (existing.limited !== limited) others.push('limited')
    writing.told('tenants', name, others.length === 0 ? 'skip' : 'change', others)
    if (isOther) changed.push({ id, name, ...row })
    if (existing.limited !== limited) await setLimited(tx, id, limited)
    if (balance !== undefined && !existing.limited) opening.push({ id, balance })
    if (existing.disabledAt !== null) changes.added++
    else if (isOther || existing.limited !== limited) changes.changed++
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
  /** Undefined: any secret will do. */
  secretHash: Buffer | undefined
  /** The hashes of the same secret under former master keys, which a row may have as yet. */
  formerHashes: readonly Buffer[]
}

function hashesOf({ secretHash, formerHashes }: WantedKey): Buffer[] {
  return secretHash === undefined ? [] : [secretHash, ...formerHashes]
}

/** A key of the file, and the row of this name if there is one. */
interface Pair {
  want: WantedKey
  row: KeyRow | undefined
}

const placeOf = ({ tenantId, name }: { tenantId: string; name: string }) => `${tenantId}/${name}`

/**
 * A secret may move from one key of the file to another, as when a key is renamed: the old row then gets a hash that no
 * secret has. A key that no file made keeps its secret.
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
  for (const { want, row } of pairs) {
    const settings = settingsOf(want, row, writing)
    const name = `${want.tenant} / ${want.key.name}`
    if (row === undefined) {
      writing.told('keys', name, 'create', [])
      const secret = want.key.secret ?? makeKeySecret()
      fresh.push({ ...newKey(want, secret, pepper), ...settings })
      if (want.key.secret === undefined) generated.push({ tenant: want.tenant, key: want.key.name, secret })
      continue
    }
    const others = writing.keepsExisting ? [] : differences(row, settings)
    writing.told('keys', name, others.length === 0 ? 'skip' : 'change', others)
    if (others.length > 0) changed.push({ ...row, ...settings })
  }
  await addKeys(tx, fresh)
  await changeKeys(tx, changed)
  changes.added = fresh.length
  changes.changed = changed.length
  return { generated, changes }
}

function newKey({ tenantId, key, secretHash }: WantedKey, secret: string, pepper: Buffer) {
  return {
    id: randomUUIDv7(),
    tenantId,
    name: key.name,
    secretHash: secretHash ?? hashKeySecret(secret, pepper),
    hint: keyHint(secret),
    createdAt: new Date(),
    // A trigger sets it.
    revision: 0,
  }
}

/** What the file says of a key. A key without a secret in the file keeps the one that it has. */
function settingsOf(
  { key, groupId, secretHash }: WantedKey,
  existing: KeyRow | undefined,
  { managedBy }: Writing,
) {
  return {
    groupId,
    capture: key.capture,
    usageScope: key.usageScope,
    strict: key.strict,
    ...limitColumns(key.limits),
    ...budgetColumns(key.budget),
    allowedModels: key.allowedModels ?? null,
    allowedCidrs: key.allowedCidrs ?? null,
    expiresAt: key.expiresAt ?? null,
    disabledAt: key.disabled ? (existing?.disabledAt ?? new Date()) : null,
    managedBy,
    ...(key.secret !== undefined && secretHash !== undefined && { secretHash, hint: keyHint(key.secret) }),
  }
}

function idOf(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`"${name}" is not known; readGatewayYaml should have refused it`)
  return id
}
