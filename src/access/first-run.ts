import { randomUUIDv7 } from 'node:crypto'
import { changeRows, putGroup, readGroups } from '../catalog/queries.ts'
import type { Connections } from '../db/connections.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import type { GeneratedKey } from './apply-tenants.ts'
import { hashKeySecret, keyHint, makeKeySecret } from './key-secret.ts'
import { addKeys, addTenants, hasTenants } from './queries.ts'

/**
 * If no tenant exists, creates the tenant `default` with the key `first` in the group `default`, and returns
 * the key. Its secret cannot be shown again. Returns undefined if there is a tenant, as on every later start.
 */
export function ensureFirstKey(
  connections: Pick<Connections, 'db'>,
  keeper: SecretKeeper,
): Promise<GeneratedKey | undefined> {
  return changeRows(connections, async (tx) => {
    if (await hasTenants(tx)) return undefined
    // Not `file`, because a file applied later will not contain this tenant and must not disable it.
    const managedBy = 'admin' as const
    const existing = (await readGroups(tx)).find((group) => group.name === 'default')
    const groupId = existing?.id ?? randomUUIDv7()
    if (existing === undefined) {
      await putGroup(tx, { id: groupId, name: 'default', models: ['*'], channels: ['*'], managedBy })
    }
    const tenantId = randomUUIDv7()
    await addTenants(tx, [{ row: { id: tenantId, name: 'default', managedBy }, balance: undefined }])
    const secret = makeKeySecret()
    const secretHash = hashKeySecret(secret, keeper.pepper)
    await addKeys(tx, [
      { id: randomUUIDv7(), tenantId, groupId, name: 'first', secretHash, hint: keyHint(secret), managedBy },
    ])
    return { tenant: 'default', key: 'first', secret }
  })
}
