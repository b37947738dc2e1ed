import { auditEndpoints } from './audit.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { type AdminEntriesContext, adminEntriesEndpoints } from './entries.ts'
import { type AdminGroupsContext, groupsEndpoints } from './groups.ts'
import { keyActionsEndpoints } from './key-actions.ts'
import { type AdminKeyUsageContext, keyUsageEndpoint } from './key-usage.ts'
import { type AdminKeysContext, keysEndpoints } from './keys.ts'
import { type AdminLedgerContext, adminLedgerEndpoint } from './ledger.ts'
import { type AdminProbesContext, adminProbesEndpoints } from './probes.ts'
import { type AdminTenantsContext, tenantsEndpoints } from './tenants.ts'
import { type AdminVerdictsContext, adminVerdictsEndpoints } from './verdicts.ts'

/** Our own API for operators, in the order of /openapi.json. */
export function adminEndpoints(
  context: AdminEntriesContext &
    AdminGroupsContext &
    AdminKeysContext &
    AdminKeyUsageContext &
    AdminLedgerContext &
    AdminProbesContext &
    AdminTenantsContext &
    AdminVerdictsContext,
): AdminEndpoint[] {
  return [
    ...tenantsEndpoints(context),
    ...adminEntriesEndpoints(context),
    ...groupsEndpoints(context),
    ...keysEndpoints(context),
    ...keyActionsEndpoints(context),
    keyUsageEndpoint(context),
    adminLedgerEndpoint(context),
    ...adminProbesEndpoints(context),
    ...adminVerdictsEndpoints(context),
    ...auditEndpoints(context),
  ]
}
