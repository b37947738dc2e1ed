import { channelCredentialsEndpoints } from './channel-credentials.ts'
import { type AdminChannelsContext, channelsEndpoints } from './channels.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { modelPricesEndpoints } from './model-prices.ts'
import { type AdminModelsContext, adminModelsEndpoints } from './models.ts'

export type AdminCatalogContext = AdminChannelsContext & AdminModelsContext

/** What gateway.yaml says of models, channels and prices, and the state of the gateway. */
export function catalogEndpoints(context: AdminCatalogContext): AdminEndpoint[] {
  return [
    ...channelsEndpoints(context),
    ...channelCredentialsEndpoints(context),
    ...adminModelsEndpoints(context),
    ...modelPricesEndpoints(context),
  ]
}
