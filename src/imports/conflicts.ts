import { shownKey } from '../access/apply-tenants.ts'
import { hashKeySecret } from '../access/key-secret.ts'
import { type KeyRow, readKeys } from '../access/queries.ts'
import type { FileKind } from '../catalog/file-changes.ts'
import type { GatewayFile } from '../catalog/gateway-file.ts'
import { readAllRows, readTenants, type Transaction } from '../catalog/queries.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import type { PlanLine } from './plan.ts'

/** The plan's lines for rows that the import cannot change, and the file without the keys it refuses. */
export interface Conflicts {
  lines: PlanLine[]
  /** The file without the keys whose secret belongs to another key, or whose name cannot be used again. */
  withoutRefusedKeys: GatewayFile
}

/**
 * Compares a file with the existing rows. `takesOver` means that the file manages these rows and that they
 * are handed over to the admins.
 */
export async function findConflicts(
  tx: Transaction,
  file: GatewayFile,
  { keeper, takesOver }: { keeper: SecretKeeper; takesOver: boolean },
): Promise<Conflicts> {
  const rows = await readAllRows(tx)
  const tenants = await readTenants(tx)
  const lines: PlanLine[] = []
  const conflict = (kind: FileKind, name: string, reason: string) => {
    lines.push({ kind, name, action: 'conflict', reason })
  }
  const managed = (
    kind: FileKind,
    wanted: readonly string[],
    there: ReadonlyMap<string, { managedBy: string }>,
  ) => {
    for (const name of wanted) if (there.get(name)?.managedBy === 'file') conflict(kind, name, byFile)
  }
  if (!takesOver) {
    managed(
      'models',
      file.models.map(({ id }) => id),
      new Map(rows.models.map((row) => [row.id, row])),
    )
    managed(
      'channels',
      file.channels.map(({ name }) => name),
      new Map(rows.channels.map((row) => [row.name, row])),
    )
    managed(
      'groups',
      file.groups.map(({ name }) => name),
      new Map(rows.groups.map((row) => [row.name, row])),
    )
    managed(
      'tenants',
      file.tenants.map(({ name }) => name),
      new Map(tenants.map((row) => [row.name, row])),
    )
  }
  const wanted = new Map(file.models.map((model) => [model.id, model]))
  for (const row of rows.models.filter((one) => one.disabledAt === null && !wanted.has(one.id))) {
    for (const alias of row.aliases.filter((one) => wanted.has(one))) {
      conflict('models', alias, `the name is an alias of the existing model ${row.id}`)
    }
    const [owner] = file.models.filter(({ aliases }) => aliases.includes(row.id))
    if (owner !== undefined)
      conflict('models', owner.id, `its alias ${row.id} is the name of an existing model`)
  }
  const idOfTenant = new Map(tenants.map(({ name, id }) => [name, id]))
  const refused = await refusedKeys(tx, file, { keeper, idOfTenant, takesOver })
  for (const { place, reason } of refused) conflict('keys', place, reason)
  const places = new Set(refused.filter(({ isLeftOut }) => isLeftOut).map(({ place }) => place))
  return {
    lines,
    withoutRefusedKeys: {
      ...file,
      tenants: file.tenants.map((tenant) => ({
        ...tenant,
        keys: tenant.keys.filter(({ name }) => !places.has(shownKey(tenant.name, name))),
      })),
    },
  }
}

const byFile = 'the row is managed by gateway.yaml. Change it there'

interface RefusedKey {
  place: string
  reason: string
  /** Whether the row cannot be written alongside the current rows, not even for a plan. */
  isLeftOut: boolean
}

async function refusedKeys(
  tx: Transaction,
  file: GatewayFile,
  around: { keeper: SecretKeeper; idOfTenant: ReadonlyMap<string, string>; takesOver: boolean },
): Promise<RefusedKey[]> {
  const { keeper, idOfTenant, takesOver } = around
  const { current, former } = keeper.ring('pepper')
  const peppers = [current, ...former.map(({ key }) => key)]
  const keys = file.tenants.flatMap((tenant) =>
    tenant.keys.map(({ name, secret }) => ({
      name,
      place: shownKey(tenant.name, name),
      tenantId: idOfTenant.get(tenant.name),
      hashes: secret === undefined ? [] : peppers.map((pepper) => hashKeySecret(secret, pepper)),
    })),
  )
  const tenantIds = [...new Set(keys.flatMap(({ tenantId }) => tenantId ?? []))]
  const rows = await readKeys(
    tx,
    tenantIds,
    keys.flatMap(({ hashes }) => hashes),
  )
  const byHash = new Map(rows.map((row) => [row.secretHash.toString('hex'), row]))
  const byPlace = new Map(rows.map((row) => [`${row.tenantId}/${row.name}`, row]))
  const isOwn = (row: KeyRow, key: (typeof keys)[number]) =>
    row.tenantId === key.tenantId && row.name === key.name
  return keys.flatMap((key): RefusedKey[] => {
    const { place } = key
    const holder = key.hashes.map((hash) => byHash.get(hash.toString('hex'))).find((row) => row !== undefined)
    if (holder !== undefined && !isOwn(holder, key)) {
      const reason = `the existing key "${holder.name}" has the same secret`
      return [{ place, reason, isLeftOut: true }]
    }
    const row = byPlace.get(`${key.tenantId}/${key.name}`)
    const final = row && whyFinal(row)
    if (final !== undefined) return [{ place, reason: final, isLeftOut: true }]
    return row?.managedBy === 'file' && !takesOver ? [{ place, reason: byFile, isLeftOut: false }] : []
  })
}

/** Returns why a key cannot be written again under its name. */
function whyFinal({ parentId, revokedAt }: KeyRow): string | undefined {
  if (parentId !== null) return 'a sub-key already has this name. Rename the sub-key through the admin API'
  if (revokedAt !== null) return 'a key with this name was revoked permanently. Choose another name'
  return undefined
}
