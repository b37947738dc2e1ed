import { z } from 'zod'
import type { Json } from '../../canonical/json.ts'
import { isRecord } from '../../canonical/json.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { modelIn, rowsToChange, writeModel } from '../../catalog/change-entries.ts'
import { checkModel } from '../../catalog/check-entry.ts'
import { modelWords, priceWords } from '../../catalog/entry-out.ts'
import { bundledLibrary } from '../../catalog/library/bundled.ts'
import { PriceSuggestions } from '../../catalog/library/price-suggestions.ts'
import { mergePatch } from '../../catalog/merge-patch.ts'
import { modelEntry } from '../../catalog/model-entry.ts'
import { type AllRows, readAllRows, setModelDisabled } from '../../catalog/queries.ts'
import { referrersOfModel } from '../../catalog/referrers.ts'
import { vendorNames } from '../../catalog/traits/vendors.ts'
import type { Database } from '../../db/database.ts'
import { settingsOfModels } from '../../db/settings/model-settings.ts'
import { jsonOf, membersOf } from '../../db/settings/setting.ts'
import { oneOfWords, text } from '../parameter.ts'
import { managedBy } from './channel-json.ts'
import { type AdminChange, type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { listParameters, pageSchema } from './list.ts'
import { type ManagedContext, refuseManaged } from './managed.ts'
import { channelMembers, servedBy, withChannels } from './model-channels.ts'
import { hasPart, pageIn } from './page-in.ts'
import { conflict, notFound } from './refusals.ts'
import { yesOrNo } from './setting-schema.ts'
import { membersSchema, patchOf } from './words.ts'

export interface AdminModelsContext extends ManagedContext {
  database: Pick<Database, 'admin' | 'reads'>
  catalog: Pick<Catalog, 'snapshot'>
}

export const modelPath = z.object({
  id: z.string().describe('The id of the model, with slashes encoded as %2F.'),
})
const words = z.record(z.string(), z.unknown())

const modelAnswer = z
  .object({
    id: z.string(),
    state: z.enum(['enabled', 'disabled']),
    managed_by: managedBy,
    ...membersOf(settingsOfModels, 'shown'),
    traits: words.nullable(),
    price: words
      .nullable()
      .describe(
        'The price on all channels, in the format of gateway.yaml. Null if the model has no price of its own.',
      ),
    price_version: z
      .object({
        id: z.uuid(),
        source: z.string().describe('`gateway.yaml`, or who set the price.'),
        created_at: z.iso.datetime(),
      })
      .nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'AdminModel' })

const modelDetails = modelAnswer.extend(channelMembers).meta({ id: 'AdminModelDetails' })

const listedModel = modelDetails
  .extend({
    suggestion: z
      .object({
        price: words,
        source: z.string().describe("The library's name for the model."),
        matched_by: z
          .enum(['channel', 'name'])
          .describe(
            '`channel`: the price of the vendor of a channel that offers the model; `name`: the price of the vendor to which the name belongs, because the library knows no vendor of such a channel.',
          ),
        partial: z
          .boolean()
          .describe('True if the library has other prices at some times, which are left out here.'),
      })
      .nullable()
      .describe(
        "The price of the package's library for this model, whether or not the library is in use. Null if it has none, or unless `suggestions` is true.",
      ),
  })
  .meta({ id: 'ListedModel' })

const modelList = pageSchema(listedModel).meta({ id: 'AdminModelList' })
const deleted = z.object({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedModel' })

/** Models: the names that clients request, with their prices. */
export function adminModelsEndpoints(context: AdminModelsContext): AdminEndpoint[] {
  const { database, catalog } = context
  return [
    modelListEndpoint(context),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/models/{id}',
      area: 'catalog',
      summary: 'Get a model with its current price',
      params: modelPath,
      answer: modelDetails,
      async handle({ params: { id } }) {
        const rows = await database.reads.ask(({ db }) => readAllRows(db))
        const body = modelJson(rowOf(rows, id), rows)
        return { body: withChannels(rows, catalog.snapshot)(body), etag: etagOf(body) }
      },
    }),
    newModelEndpoint(),
    adminChange({
      method: 'PATCH',
      path: '/admin/v1/models/{id}',
      area: 'catalog',
      ifMatch: 'model',
      summary: 'Update a model',
      description:
        'A JSON merge patch (RFC 7396) of the settings in the format of gateway.yaml. Absent settings stay unchanged; null restores the default. A changed price creates a new version.',
      params: modelPath,
      body: patchOf(modelEntry, 'ModelPatch'),
      answer: modelAnswer,
      async change({ tx, actor, params: { id }, body, requireMatch, audit }) {
        const { rows, before, known } = await modelToChange(tx, context, id, requireMatch)
        const merged = mergePatch(known, body)
        if (merged.id !== id)
          throw conflict(
            'id: the id of a model cannot be changed. Create another model or add an alias.',
            'id',
          )
        await writeModel(tx, checkModel(merged, rows), { rows, source: priceAuthor(actor) })
        return await audited(tx, audit, 'change', before, id)
      },
    }),
    ...switchEndpoints(context),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/models/{id}',
      area: 'catalog',
      ifMatch: 'model',
      summary: 'Delete a model that nothing refers to (it is disabled, like one removed from gateway.yaml)',
      params: modelPath,
      answer: deleted,
      async change({ tx, params: { id }, requireMatch, audit }) {
        const { rows, before } = await modelToChange(tx, context, id, requireMatch)
        const [referrer] = referrersOfModel(rows, id)
        if (referrer !== undefined)
          throw conflict(
            `${referrer} refers to model "${id}". Remove the reference first.`,
            undefined,
            'in_use',
          )
        await setModelDisabled(tx, id, true)
        await audit({ action: 'model.delete', resource: 'model', id, name: id, before })
        return { body: { id, deleted: true as const } }
      },
    }),
  ]
}

function modelListEndpoint({ database, catalog }: AdminModelsContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/models',
    area: 'catalog',
    summary: 'List models',
    query: z.strictObject({
      ...listParameters(['id', 'created_at']),
      state: oneOfWords(['enabled', 'disabled']).optional(),
      managed_by: oneOfWords(['file', 'admin']).optional(),
      channel: text
        .optional()
        .describe('Only models that the channel with this name serves, by their name or by "*".'),
      search: text.optional().describe('Part of the id, case-insensitive.'),
      suggestions: yesOrNo.default(false).describe("Whether to look for the library's prices."),
    }),
    answer: modelList,
    async handle({ query }) {
      const rows = await database.reads.ask(({ db }) => readAllRows(db))
      const isServed = query.channel === undefined ? () => true : servedBy(rows, query.channel)
      const wanted = rows.models
        .map((row) => modelJson(row, rows))
        .filter(
          (one) =>
            isServed(one.id) &&
            (query.state === undefined || one.state === query.state) &&
            (query.managed_by === undefined || one.managed_by === query.managed_by) &&
            hasPart(one.id, query.search),
        )
      const page = pageIn(
        wanted,
        query,
        (one, by) => (by === 'id' ? one.id : one.created_at),
        ({ id }) => id,
      )
      const suggest = query.suggestions ? await suggester(rows) : () => null
      const withOthers = withChannels(rows, catalog.snapshot)
      const data = page.data.map((one) => ({ ...withOthers(one), suggestion: suggest(one.id) }))
      return { body: { ...page, data } }
    },
  })
}

/** Returns what looks for prices in the library. */
async function suggester({ channels, offers }: AllRows) {
  const suggestions = new PriceSuggestions(await bundledLibrary(), Date.now())
  const channelOf = new Map(channels.map((row) => [row.id, row]))
  const offersOf = Map.groupBy(offers, ({ modelId }) => modelId)
  return (id: string): z.input<typeof listedModel>['suggestion'] => {
    const offered = (offersOf.get(id) ?? []).flatMap(({ channelId, upstreamModel }) => {
      const channel = channelOf.get(channelId)
      if (channel === undefined) return []
      const vendor = vendorNames.find((name) => name === channel.vendor)
      return [{ vendor, protocols: channel.protocols, upstreamModel }]
    })
    const found = suggestions.of(id, offered)
    const price = found && priceWords(found.price)
    if (found === undefined || price === undefined) return null
    return { price, source: found.source, matched_by: found.matchedBy, partial: found.isPartial }
  }
}

function newModelEndpoint(): AdminEndpoint {
  return adminChange({
    method: 'POST',
    path: '/admin/v1/models',
    area: 'catalog',
    summary: 'Create a model',
    description:
      'The body has the format of an entry of `models` in gateway.yaml. Channels offer the model if they list it.',
    body: membersSchema(modelEntry, 'ModelRequest'),
    statuses: [201],
    answer: modelAnswer,
    async change({ tx, actor, body, audit }) {
      const rows = await rowsToChange(tx)
      const former = rows.models.find(({ id }) => id === body.id)
      if (former !== undefined && (former.disabledAt === null || former.managedBy === 'admin'))
        throw conflict(
          `id: there is already a model "${former.id}". Change or enable that one.`,
          'id',
          'name_taken',
        )
      const model = checkModel(body, rows)
      await writeModel(tx, model, { rows, source: priceAuthor(actor) })
      if (former !== undefined) await setModelDisabled(tx, model.id, false)
      return { status: 201, ...(await audited(tx, audit, 'make', undefined, model.id)) }
    },
  })
}

function switchEndpoints(context: AdminModelsContext): AdminEndpoint[] {
  return [
    { verb: 'enable' as const, summary: 'Enable a model' },
    {
      verb: 'disable' as const,
      summary: 'Disable a model, so that it cannot be requested but keeps its settings',
    },
  ].map(({ verb, summary }) =>
    adminChange({
      method: 'POST',
      path: `/admin/v1/models/{id}/${verb}`,
      area: 'catalog',
      ifMatch: 'model',
      summary,
      params: modelPath,
      answer: modelAnswer,
      async change({ tx, params: { id }, requireMatch, audit }) {
        const { rows, before, known } = await modelToChange(tx, context, id, requireMatch)
        if (verb === 'enable') checkModel(known, rows)
        await setModelDisabled(tx, id, verb === 'disable')
        return await audited(tx, audit, verb, before, id)
      },
    }),
  )
}

/**
 * Reads a model in order to change it, together with all rows, which are locked. Throws if it is managed by
 * gateway.yaml.
 */
export async function modelToChange(
  tx: AdminChange['tx'],
  context: ManagedContext,
  id: string,
  requireMatch: AdminChange['requireMatch'],
) {
  const rows = await rowsToChange(tx)
  const row = rowOf(rows, id)
  await refuseManaged(tx, context, row, { kind: 'model', name: id })
  const before = modelJson(row, rows)
  requireMatch(etagOf(before))
  return { rows, row, before, known: modelIn(rows, id)?.words ?? {} }
}

/** Returns the author of a price, for the column `source`. */
export function priceAuthor({ name }: AdminChange['actor']): string {
  return `admin API, ${name}`
}

async function audited(
  tx: AdminChange['tx'],
  audit: AdminChange['audit'],
  verb: 'make' | 'change' | 'enable' | 'disable',
  before: Json | undefined,
  id: string,
) {
  const after = await readModelAnswer(tx, id)
  const entry = { action: `model.${verb}`, resource: 'model', id, name: id, after }
  await audit({ ...entry, ...(before !== undefined && { before }) })
  return { body: after, etag: etagOf(after) }
}

/** A model as shown by the API. Its ETag is computed from this. */
export async function readModelAnswer(
  tx: AdminChange['tx'],
  id: string,
): Promise<z.output<typeof modelAnswer>> {
  const rows = await readAllRows(tx)
  return modelJson(rowOf(rows, id), rows)
}

export function rowOf(rows: AllRows, id: string): AllRows['models'][number] {
  const row = rows.models.find((one) => one.id === id)
  if (row === undefined) throw notFound('model with this id')
  return row
}

function modelJson(row: AllRows['models'][number], rows: AllRows): z.output<typeof modelAnswer> {
  const version = rows.prices.find(({ modelId }) => modelId === row.id)
  const { price, traits } = modelWords(row, version)
  return {
    id: row.id,
    state: row.disabledAt === null ? 'enabled' : 'disabled',
    managed_by: row.managedBy,
    ...jsonOf(settingsOfModels, row),
    traits: isRecord(traits) ? traits : null,
    price: isRecord(price) ? price : null,
    price_version:
      version === undefined
        ? null
        : {
            id: version.id,
            source: version.source ?? 'gateway.yaml',
            created_at: version.createdAt.toISOString(),
          },
    created_at: row.createdAt.toISOString(),
  }
}
