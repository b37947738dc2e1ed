import { auditEndpoints } from './audit.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { type AdminEntriesContext, adminEntriesEndpoints } from './entries.ts'
import { type AdminLedgerContext, adminLedgerEndpoint } from './ledger.ts'
import { type AdminPlaygroundContext, adminPlaygroundEndpoint } from './playground.ts'
import { type AdminProbesContext, adminProbesEndpoints } from './probes.ts'
import { type AdminRequestContext, adminRequestEndpoint } from './request-detail.ts'
import { type AdminExportContext, adminExportEndpoint } from './request-export.ts'
import { type AdminTailContext, adminTailEndpoint } from './request-tail.ts'
import { type AdminTranslationContext, adminTranslationEndpoint } from './request-translation.ts'
import { type AdminRequestsContext, adminRequestsEndpoints } from './requests.ts'
import { type AdminVerdictsContext, adminVerdictsEndpoints } from './verdicts.ts'
import { viewsEndpoints } from './views.ts'

/** Our own API for operators, in the order of /openapi.json. */
export function adminEndpoints(
  context: AdminEntriesContext &
    AdminLedgerContext &
    AdminPlaygroundContext &
    AdminProbesContext &
    AdminExportContext &
    AdminRequestContext &
    AdminTailContext &
    AdminTranslationContext &
    AdminRequestsContext &
    AdminVerdictsContext,
): AdminEndpoint[] {
  return [
    ...adminEntriesEndpoints(context),
    adminLedgerEndpoint(context),
    ...adminProbesEndpoints(context),
    ...adminVerdictsEndpoints(context),
    ...adminRequestsEndpoints(context),
    adminExportEndpoint(context),
    adminTailEndpoint(context),
    adminRequestEndpoint(context),
    adminTranslationEndpoint(context),
    adminPlaygroundEndpoint(context),
    ...viewsEndpoints(context),
    ...auditEndpoints(context),
  ]
}
