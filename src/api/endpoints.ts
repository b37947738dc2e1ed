import type { FollowedRevisions } from '../access/revision.ts'
import type { Database } from '../db/database.ts'
import type { ImageGateway } from '../images/image-gateway.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import type { Ledger } from '../shipping/ledger.ts'
import type { ClientFiles } from '../state/files/client-files.ts'
import type { Archive } from '../usage/archive/archive.ts'
import type { RunningExports } from '../usage/log/running-exports.ts'
import { adminEndpoints } from './admin/endpoints.ts'
import { budgetEndpoint } from './budget.ts'
import { conversationEndpoints } from './conversations.ts'
import { countTokensEndpoints } from './count-tokens.ts'
import type { ApiEndpoint } from './dispatch.ts'
import type { ClientEndpoint } from './endpoint.ts'
import { fileEndpoints } from './files.ts'
import { imageEndpoints } from './images.ts'
import { keyEndpoints } from './key.ts'
import { modelsEndpoints } from './models.ts'
import { PublicCatalog, publicCatalogEndpoint } from './public-catalog.ts'
import { heldAnswerEndpoints } from './responses.ts'
import { translateEndpoint } from './translate.ts'
import { usageEndpoints } from './usage.ts'

type ClientContext = ImageGateway & {
  ledger: Pick<Ledger, 'shipAll'> & ImageGateway['ledger']
  database: Database
  archive: Archive
  exports: RunningExports
  keeper: SecretKeeper
  revisions: FollowedRevisions
  files: ClientFiles
}

/** Every endpoint of our own API, in the order of /openapi.json. */
export function apiEndpoints(
  context: ClientContext & Parameters<typeof adminEndpoints>[0],
  publicCatalog = new PublicCatalog(context),
): ApiEndpoint[] {
  return [...clientEndpoints(context, publicCatalog), ...adminEndpoints(context)]
}

/** For clients. */
function clientEndpoints(gateway: ClientContext, publicCatalog: PublicCatalog): ClientEndpoint[] {
  const { clock, database, archive, bounds, exports, ledger, showsRouting } = gateway
  const usage = { clock, database, archive, bounds, exports, showsRouting, shipNow: () => ledger.shipAll() }
  return [
    ...countTokensEndpoints(gateway),
    ...heldAnswerEndpoints(gateway),
    ...conversationEndpoints(gateway),
    ...imageEndpoints(gateway),
    ...fileEndpoints(gateway),
    translateEndpoint(gateway),
    ...modelsEndpoints(() => gateway.modelLists.lists),
    ...usageEndpoints(usage),
    budgetEndpoint(usage),
    ...keyEndpoints(gateway, usage),
    publicCatalogEndpoint(publicCatalog),
  ]
}
