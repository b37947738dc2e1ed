import { z } from 'zod'
import { isOffered, mayUse, modelsFor } from '../access/permitted.ts'
import { gatewayError } from '../canonical/error.ts'
import { findModel, modelIdOf } from '../catalog/catalog.ts'
import { listedModels, type ModelLists } from '../catalog/listed-models.ts'
import { redactText } from '../redaction/redact.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { mapInTurns } from './in-turns.ts'
import {
  messagesJson,
  messagesListJson,
  messagesModel,
  messagesModelList,
  messagesQuery,
} from './messages-models.ts'
import { model, modelJson, modelList } from './model-json.ts'
import { speaksMessages } from './speaks-messages.ts'

const anyModelList = z.union([modelList, messagesModelList]).meta({ id: 'AnyModelList' })
const anyModel = z.union([model, messagesModel]).meta({ id: 'AnyModel' })

/**
 * The models that the caller's key can use. `lists` contains the upstreams' own lists in their current state.
 */
export const modelsEndpoints = (lists: () => ModelLists): readonly ClientEndpoint[] => [
  keyEndpoint({
    method: 'GET',
    path: '/v1/models',
    summary: 'List the models that this key can use, by id',
    description:
      'Clients that send `anthropic-version` receive the list in the Messages format, page by page. Other clients receive the whole list, and their parameters are ignored.',
    logged: true,
    query: messagesQuery,
    readsQuery: speaksMessages,
    answer: anyModelList,
    async handle({ stage, query }) {
      const models = modelsFor(stage.snapshot, stage.identity, lists())
      const { group } = stage
      if (speaksMessages(stage)) return { body: await messagesListJson(models, query, group), headers: vary }
      const data = await mapInTurns(models, (each) => modelJson(each, each.id, group))
      return { body: { object: 'list' as const, data }, headers: vary }
    },
  }),
  keyEndpoint({
    method: 'GET',
    path: '/v1/models/{id}',
    route: '/v1/models/*id',
    summary: 'Get a model by its id or an alias',
    description: 'Clients that send `anthropic-version` receive the model in the Messages format.',
    logged: true,
    params: z.object({
      id: z.string().describe('The id or an alias of the model, which may contain slashes.'),
    }),
    answer: anyModel,
    async handle({ stage, params: { id: name } }) {
      const { snapshot, identity, group } = stage
      const listed = listedModels(snapshot, lists()).get(name)
      // A list may belong to a channel outside this group, while other channels pass the name through.
      const found = listed !== undefined && isOffered(listed, group) ? listed : findModel(snapshot, name)
      if (found === undefined || !mayUse(snapshot, identity, name)) {
        throw gatewayError(
          'model_not_allowed',
          { model: redactText(name, [], idLengthShown) },
          { field: 'model' },
        )
      }
      const id = modelIdOf(found, name)
      return {
        body: speaksMessages(stage) ? messagesJson(found, id, group) : modelJson(found, id, group),
        headers: vary,
      }
    },
  }),
]

const vary = { vary: 'anthropic-version' }

const idLengthShown = 256
