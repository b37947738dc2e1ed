import type { TestGateway } from '../../probes/test-channel.ts'
import { channelTestEndpoint } from './channel-test.ts'
import { channelCredentialsEndpoints } from './channel-credentials.ts'
import { type AdminChannelsContext, channelsEndpoints } from './channels.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { type AdminExportContext, exportEndpoint } from './export.ts'
import { modelPricesEndpoints } from './model-prices.ts'
import { type AdminModelsContext, adminModelsEndpoints } from './models.ts'

export type AdminCatalogContext = AdminChannelsContext & AdminModelsContext & AdminExportContext & TestGateway

/** What gateway.yaml says of models, channels and prices, and the state of the gateway. */
export function catalogEndpoints(context: AdminCatalogContext): AdminEndpoint[] {
  return [
    ...channelsEndpoints(context),
    ...channelCredentialsEndpoints(context),
    channelTestEndpoint(context),
    ...adminModelsEndpoints(context),
    ...modelPricesEndpoints(context),
    exportEndpoint(context),
  ]
}
