import { accountEndpoints } from './account.ts'
import { alertEpisodesEndpoints } from './alert-episodes.ts'
import type { AdminAlertsContext } from './alert-rule.ts'
import { adminAlertsEndpoints } from './alerts.ts'
import { apiTokensEndpoints } from './api-tokens.ts'
import { type AdminArchiveContext, archiveEndpoints } from './archive.ts'
import { auditEndpoints } from './audit.ts'
import type { AuthenticateContext } from './authenticate.ts'
import { type AdminCatalogContext, catalogEndpoints } from './catalog-endpoints.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { type AdminEntriesContext, adminEntriesEndpoints } from './entries.ts'
import { type AdminErasuresContext, erasuresEndpoints } from './erasures.ts'
import { type AdminGroupsContext, groupsEndpoints } from './groups.ts'
import { type AdminImportsContext, importsEndpoints } from './imports.ts'
import { keyActionsEndpoints } from './key-actions.ts'
import { keyBlocksEndpoints } from './key-blocks.ts'
import { type AdminKeyUsageContext, keyUsageEndpoint, tenantUsageEndpoint } from './key-usage.ts'
import { type AdminKeysContext, keysEndpoints } from './keys.ts'
import { type AdminLedgerContext, adminLedgerEndpoint } from './ledger.ts'
import { type AdminVerificationContext, ledgerVerificationEndpoints } from './ledger-verification.ts'
import { linksEndpoints } from './links.ts'
import { type OidcConfig, oidcEndpoints } from './oidc.ts'
import { type AdminPlaygroundContext, adminPlaygroundEndpoint } from './playground.ts'
import { type AdminProbesContext, adminProbesEndpoints } from './probes.ts'
import { type AdminRequestContext, adminRequestEndpoint } from './request-detail.ts'
import { adminRequestErrorsEndpoint } from './request-errors.ts'
import { adminExportEndpoint, type RequestExportContext } from './request-export.ts'
import { adminRequestFacetsEndpoint } from './request-facets.ts'
import { adminRequestSumsEndpoint } from './request-sums.ts'
import { type AdminTailContext, adminTailEndpoint } from './request-tail.ts'
import { type AdminTranslationContext, adminTranslationEndpoint } from './request-translation.ts'
import { type AdminRequestsContext, adminRequestsEndpoints } from './requests.ts'
import { sessionEndpoints } from './session.ts'
import { type AdminSummaryContext, adminSummaryEndpoints } from './summary.ts'
import { type AdminTenantModelsContext, tenantModelsEndpoint } from './tenant-models.ts'
import { type AdminTenantsContext, tenantsEndpoints } from './tenants.ts'
import { usersEndpoints } from './users.ts'
import { type AdminVerdictsContext, adminVerdictsEndpoints } from './verdicts.ts'
import { viewsEndpoints } from './views.ts'

/** Our own API for operators, in the order of /openapi.json. */
export function adminEndpoints(
  context: AdminAlertsContext &
    AdminEntriesContext &
    AdminErasuresContext &
    AdminGroupsContext &
    AdminKeysContext &
    AdminKeyUsageContext &
    AdminLedgerContext &
    AdminVerificationContext &
    AdminPlaygroundContext &
    AdminProbesContext &
    RequestExportContext &
    AdminRequestContext &
    AdminTailContext &
    AdminTranslationContext &
    AdminSummaryContext &
    AdminRequestsContext &
    AdminTenantModelsContext &
    AdminTenantsContext &
    AdminVerdictsContext &
    AdminArchiveContext &
    AdminCatalogContext &
    AdminImportsContext &
    AuthenticateContext & { config: OidcConfig },
): AdminEndpoint[] {
  return [
    ...tenantsEndpoints(context),
    tenantModelsEndpoint(context),
    ...adminEntriesEndpoints(context),
    ...groupsEndpoints(context),
    ...keysEndpoints(context),
    ...keyActionsEndpoints(context),
    ...keyBlocksEndpoints(context),
    keyUsageEndpoint(context),
    tenantUsageEndpoint(context),
    ...catalogEndpoints(context),
    ...importsEndpoints(context),
    adminLedgerEndpoint(context),
    ...ledgerVerificationEndpoints(context),
    ...adminProbesEndpoints(context),
    ...adminVerdictsEndpoints(context),
    ...adminRequestsEndpoints(context),
    adminRequestErrorsEndpoint(context),
    adminRequestFacetsEndpoint(context),
    adminExportEndpoint(context),
    adminRequestSumsEndpoint(context),
    adminTailEndpoint(context),
    adminRequestEndpoint(context),
    adminTranslationEndpoint(context),
    adminPlaygroundEndpoint(context),
    ...viewsEndpoints(context),
    ...auditEndpoints(context),
    ...adminSummaryEndpoints(context),
    ...sessionEndpoints(context),
    ...accountEndpoints(context),
    ...oidcEndpoints(context),
    ...usersEndpoints(context),
    ...linksEndpoints(context),
    ...apiTokensEndpoints(context),
    ...erasuresEndpoints(context),
    ...archiveEndpoints(context),
    // Must come before `/alerts/{id}`.
    ...alertEpisodesEndpoints(context),
    ...adminAlertsEndpoints(context),
  ]
}
