import { alertEpisodesEndpoints } from './alert-episodes.ts'
import { type AdminAlertsContext, adminAlertsEndpoints } from './alerts.ts'
import { auditEndpoints } from './audit.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { type AdminEntriesContext, adminEntriesEndpoints } from './entries.ts'
import { type AdminLedgerContext, adminLedgerEndpoint } from './ledger.ts'
import { type AdminProbesContext, adminProbesEndpoints } from './probes.ts'
import { type AdminSummaryContext, adminSummaryEndpoints } from './summary.ts'
import { type AdminVerdictsContext, adminVerdictsEndpoints } from './verdicts.ts'

/** Our own API for operators, in the order of /openapi.json. */
export function adminEndpoints(
  context: AdminAlertsContext &
    AdminEntriesContext &
    AdminLedgerContext &
    AdminProbesContext &
    AdminSummaryContext &
    AdminVerdictsContext,
): AdminEndpoint[] {
  return [
    ...adminEntriesEndpoints(context),
    adminLedgerEndpoint(context),
    ...adminProbesEndpoints(context),
    ...adminVerdictsEndpoints(context),
    ...auditEndpoints(context),
    ...adminSummaryEndpoints(context),
    // Before `/alerts/{id}`.
    ...alertEpisodesEndpoints(context),
    ...adminAlertsEndpoints(context),
  ]
}
