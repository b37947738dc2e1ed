import { type AdminEntriesContext, adminEntriesEndpoints } from './admin-entries.ts'
import { type AdminLedgerContext, adminLedgerEndpoint } from './admin-ledger.ts'
import { type AdminProbesContext, adminProbesEndpoints } from './admin-probes.ts'
import { type AdminVerdictsContext, adminVerdictsEndpoints } from './admin-verdicts.ts'
import type { AdminEndpoint } from './own-endpoint.ts'

/** Our own API for operators, in the order of /openapi.json. */
export function adminEndpoints(
  context: AdminEntriesContext & AdminLedgerContext & AdminProbesContext & AdminVerdictsContext,
): AdminEndpoint[] {
  return [
    ...adminEntriesEndpoints(context),
    adminLedgerEndpoint(context),
    ...adminProbesEndpoints(context),
    ...adminVerdictsEndpoints(context),
  ]
}
