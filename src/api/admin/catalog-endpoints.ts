import type { TestGateway } from '../../probes/test-channel.ts'
import { type AdminBackgroundContext, adminBackgroundEndpoints } from './background-answers.ts'
import { channelCredentialsEndpoints } from './channel-credentials.ts'
import { type AdminChannelModelsContext, channelModelsEndpoints } from './channel-models.ts'
import { channelTestEndpoint } from './channel-test.ts'
import { channelsEndpoints } from './channels.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { type AdminExportContext, exportEndpoint } from './export.ts'
import { type AdminFilesContext, adminFilesEndpoints } from './files.ts'
import { type AdminHealthContext, healthEndpoints } from './health.ts'
import { type AdminImagesContext, adminImagesEndpoints } from './image-jobs.ts'
import { type AdminKeptContext, adminKeptEndpoints } from './kept-answers.ts'
import { modelPricesEndpoints } from './model-prices.ts'
import { type AdminModelsContext, adminModelsEndpoints } from './models.ts'
import { offersEndpoints } from './offers.ts'
import { type AdminSettingsContext, settingsEndpoints } from './settings.ts'

export type AdminCatalogContext = AdminBackgroundContext &
  AdminChannelModelsContext &
  AdminExportContext &
  AdminFilesContext &
  AdminHealthContext &
  AdminImagesContext &
  AdminKeptContext &
  AdminModelsContext &
  AdminSettingsContext &
  TestGateway

/** Models, channels and prices, and the state of the gateway. */
export function catalogEndpoints(context: AdminCatalogContext): AdminEndpoint[] {
  return [
    ...channelsEndpoints(context),
    ...channelCredentialsEndpoints(context),
    ...channelModelsEndpoints(context),
    channelTestEndpoint(context),
    ...adminModelsEndpoints(context),
    ...modelPricesEndpoints(context),
    ...offersEndpoints(context),
    ...adminImagesEndpoints(context),
    ...adminBackgroundEndpoints(context),
    ...adminFilesEndpoints(context),
    ...adminKeptEndpoints(context),
    ...healthEndpoints(context),
    ...settingsEndpoints(context),
    exportEndpoint(context),
  ]
}
