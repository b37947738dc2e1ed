import { randomUUIDv7 } from 'node:crypto'
import { changeRows, putGroup, readGroups } from '../catalog/queries.ts'
import type { Connections } from '../db/connections.ts'
import type { SecretKeeper } from '../secret-key.ts'
import type { GeneratedKey } from './apply-tenants.ts'
import { hashKeySecret, keyHint, makeKeySecret } from './key-secret.ts'
import { addKey, addTenant, hasTenants } from './queries.ts'

/**
 * Where there is no tenant at all: make tenant `default` with key `first` in group `default`, and return the key, whose
 * secret is shown only now. Undefined once there is any tenant, so also at every later start.
 */
export function ensureFirstKey(
  connections: Pick<Connections, 'db'>,
  keeper: SecretKeeper,
): Promise<GeneratedKey | undefined> {
  return changeRows(connections, async (tx) => {
    if (await hasTenants(tx)) return undefined
    // Not the file's: a file that is given later says nothing about this tenant and leaves it be.
    const managedBy = 'admin' as const
    const existing = (await readGroups(tx)).find((group) => group.name === 'default')
    const groupId = existing?.id ?? randomUUIDv7()
    if (existing === undefined) {
      await putGroup(tx, { id: groupId, name: 'default', models: ['*'], channels: ['*'], managedBy })
    }
    const tenantId = randomUUIDv7()
    await addTenant(tx, { id: tenantId, name: 'default', managedBy }, { limited: false })
    const secret = makeKeySecret()
    await addKey(tx, {
      id: randomUUIDv7(),
      tenantId,
      groupId,
      name: 'first',
      secretHash: hashKeySecret(secret, keeper.pepper),
      hint: keyHint(secret),
      managedBy,
    })
    return { tenant: 'default', key: 'first', secret }
  })
}
