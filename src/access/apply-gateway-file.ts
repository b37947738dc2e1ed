import { applyCatalog } from '../catalog/apply.ts'
import type { GatewayFile } from '../catalog/gateway-file.ts'
import { changeRows, holdCharges } from '../catalog/queries.ts'
import type { Connections } from '../db/connections.ts'
import type { SecretKeeper } from '../secret-key.ts'
import { applyTenants, type GeneratedKey } from './apply-tenants.ts'

/**
 * Write a gateway file into the database, in one transaction. Rows are matched by name. It disables rows of an earlier
 * file that this one leaves out, unless `others` is `keep`; it leaves rows alone that no file made. The same file again
 * changes no row. Returns the generated keys: this is the only chance to show their secrets.
 */
export function applyGatewayFile(
  connections: Pick<Connections, 'db'>,
  file: GatewayFile,
  keeper: SecretKeeper,
  { others = 'disable' }: { others?: 'disable' | 'keep' } = {},
): Promise<GeneratedKey[]> {
  return changeRows(connections, async (tx) => {
    // One of the budgets may be new: see holdCharges.
    if (hasBudgets(file)) await holdCharges(tx)
    const { groupIds, retire } = await applyCatalog(tx, file, keeper)
    const generated = await applyTenants(tx, file.tenants, { groupIds, pepper: keeper.pepper, others })
    if (others === 'disable') await retire()
    return generated
  })
}

function hasBudgets({ groups, tenants }: GatewayFile): boolean {
  const owners = [...groups, ...tenants.flatMap(({ keys }) => keys)]
  return owners.some(({ budget }) => Object.values(budget ?? {}).some((cap) => cap !== undefined))
}
