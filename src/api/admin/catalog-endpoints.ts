import { readExportRows } from '../../access/export-queries.ts'
import { exportYaml } from '../../access/export-yaml.ts'
import type { Database } from '../../db/database.ts'
import type { TestGateway } from '../../probes/test-channel.ts'
import type { SecretKeeper } from '../../secrets/secret-key.ts'
import { type AdminBackgroundContext, adminBackgroundEndpoints } from './background-answers.ts'
import { channelBlocksEndpoints } from './channel-blocks.ts'
import { channelCredentialsEndpoints } from './channel-credentials.ts'
import { type AdminChannelModelsContext, channelModelsEndpoints } from './channel-models.ts'
import { channelTestEndpoint } from './channel-test.ts'
import { channelsEndpoints } from './channels.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
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

/** Models, channels and prices, and the gateway's state as a file. */
export function catalogEndpoints(context: AdminCatalogContext): AdminEndpoint[] {
  return [
    ...channelsEndpoints(context),
    ...channelBlocksEndpoints(context),
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

interface AdminExportContext {
  database: Pick<Database, 'reads'>
  keeper: SecretKeeper
}

/** Returns the gateway's state as a file. */
function exportEndpoint({ database, keeper }: AdminExportContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/export',
    area: 'settings',
    summary: 'Export the state of the gateway as a gateway.yaml, without secrets',
    description: 'Secrets are replaced by variables, whose names are listed at the top of the file.',
    media: 'text/yaml',
    async handle({ response }) {
      const rows = await database.reads.ask(({ db }) => readExportRows(db), { withinMs: 30_000 })
      response
        .set('content-type', 'text/yaml; charset=utf-8')
        .set('content-disposition', 'attachment; filename="gateway.yaml"')
        .end(exportYaml(rows, keeper, new Date()))
      return undefined
    },
  })
}
