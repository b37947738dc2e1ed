import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { KeyEntry, TenantEntry } from '../catalog/gateway-file.ts'
import { budgetColumns, limitColumns } from '../catalog/limit-columns.ts'
import { readTenants, type Transaction } from '../catalog/queries.ts'
import { hashKeySecret, keyHint, makeKeySecret } from './key-secret.ts'
import {
  addKey,
  addTenant,
  changeKey,
  changeTenant,
  disableKeys,
  disableTenants,
  type KeyRow,
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
  pepper: Buffer
  /** Whether to disable the tenants and keys of an earlier file that this one leaves out. */
  others: 'disable' | 'keep'
}

/** Write the tenants of a file, with their accounts and keys. Changes only rows that differ. */
export async function applyTenants(
  tx: Transaction,
  tenants: TenantEntry[],
  { groupIds, pepper, others }: Options,
): Promise<GeneratedKey[]> {
  const rows = await readTenants(tx)
  const tenantIds = new Map<string, string>()
  for (const tenant of tenants) {
    const existing = rows.find((row) => row.name === tenant.name)
    tenantIds.set(tenant.name, await applyTenant(tx, existing, tenant))
  }

  const wanted = tenants.flatMap((tenant) =>
    tenant.keys.map((key) => ({
      tenant: tenant.name,
      tenantId: idOf(tenantIds, tenant.name),
      groupId: idOf(groupIds, key.group),
      key,
      secretHash: key.secret === undefined ? undefined : hashKeySecret(key.secret, pepper),
    })),
  )
  const hashes = wanted.flatMap(({ secretHash }) => secretHash ?? [])
  const keyRows = await readKeys(tx, [...tenantIds.values()], hashes)
  const rowOf = (want: WantedKey) =>
    keyRows.find((row) => row.tenantId === want.tenantId && row.name === want.key.name)
  for (const want of wanted) await freeSecret(tx, keyRows, want, rowOf(want))

  const generated: GeneratedKey[] = []
  for (const want of wanted) {
    const secret = await applyKey(tx, rowOf(want), want, pepper)
    if (secret !== undefined) generated.push({ tenant: want.tenant, key: want.key.name, secret })
  }

  if (others === 'disable') {
    const isLeft = (row: Live, isWanted: boolean) =>
      row.managedBy === 'file' && row.disabledAt === null && !isWanted
    const kept = new Set(wanted.map(rowOf))
    const keyIds = keyRows.filter((row) => isLeft(row, kept.has(row))).map((row) => row.id)
    if (keyIds.length > 0) await disableKeys(tx, keyIds)
    const leftTenantIds = rows.filter((row) => isLeft(row, tenantIds.has(row.name))).map((row) => row.id)
    if (leftTenantIds.length > 0) await disableTenants(tx, leftTenantIds)
  }
  return generated
}

interface Live {
  managedBy: string
  disabledAt: Date | null
}

interface WantedKey {
  tenant: string
  tenantId: string
  groupId: string
  key: KeyEntry
  /** Undefined: any secret will do. */
  secretHash: Buffer | undefined
}

type TenantRow = Awaited<ReturnType<typeof readTenants>>[number]

async function applyTenant(tx: Transaction, existing: TenantRow | undefined, tenant: TenantEntry) {
  const id = existing?.id ?? randomUUIDv7()
  const limited = tenant.balance !== undefined
  const row = { ...limitColumns(tenant.limits), disabledAt: null, managedBy: 'file' as const }
  if (existing === undefined) await addTenant(tx, { id, name: tenant.name, ...row }, { limited })
  else {
    if (!isDeepStrictEqual({ ...existing, ...row }, existing)) await changeTenant(tx, id, row)
    if (existing.limited !== limited) await setLimited(tx, id, limited)
  }
  if (tenant.balance !== undefined && existing?.limited !== true) await openBalance(tx, id, tenant.balance)
  return id
}

/**
 * A secret may move from one key of the file to another, as when a key is renamed: the old row then gets a hash that no
 * secret has. A key that no file made keeps its secret.
 */
async function freeSecret(tx: Transaction, rows: KeyRow[], want: WantedKey, target: KeyRow | undefined) {
  const { secretHash } = want
  if (secretHash === undefined) return
  const holder = rows.find((row) => row.secretHash.equals(secretHash))
  if (holder === undefined || holder === target) return
  if (holder.managedBy !== 'file') {
    throw new Error(
      `The secret of key "${want.key.name}" of tenant "${want.tenant}" already belongs to another key, ` +
        `"${holder.name}", which is not managed by the file. Choose another secret.`,
    )
  }
  holder.secretHash = randomBytes(32)
  await changeKey(tx, holder.id, { secretHash: holder.secretHash })
}

/** Returns the secret that was generated, if one was. */
async function applyKey(tx: Transaction, existing: KeyRow | undefined, want: WantedKey, pepper: Buffer) {
  const { key } = want
  const row = {
    groupId: want.groupId,
    capture: key.capture,
    usageScope: key.usageScope,
    strict: key.strict,
    ...limitColumns(key.limits),
    ...budgetColumns(key.budget),
    allowedModels: key.allowedModels ?? null,
    allowedCidrs: key.allowedCidrs ?? null,
    expiresAt: key.expiresAt ?? null,
    disabledAt: key.disabled ? (existing?.disabledAt ?? new Date()) : null,
    managedBy: 'file' as const,
  }
  if (existing === undefined) {
    const secret = key.secret ?? makeKeySecret()
    const secretHash = hashKeySecret(secret, pepper)
    const id = randomUUIDv7()
    await addKey(tx, {
      id,
      tenantId: want.tenantId,
      name: key.name,
      secretHash,
      hint: keyHint(secret),
      ...row,
    })
    return key.secret === undefined ? secret : undefined
  }
  const { secretHash } = want
  const secret =
    key.secret === undefined || secretHash === undefined ? {} : { secretHash, hint: keyHint(key.secret) }
  if (!isDeepStrictEqual({ ...existing, ...row, ...secret }, existing)) {
    await changeKey(tx, existing.id, { ...row, ...secret })
  }
  return undefined
}

function idOf(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`"${name}" is not known; readGatewayYaml should have refused it`)
  return id
}
