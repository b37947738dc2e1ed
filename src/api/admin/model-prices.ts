import { z } from 'zod'
import { checked } from '../../canonical/checked.ts'
import { invalid } from '../../canonical/field-error.ts'
import { isSamePrice, rowsToChange, writePrice } from '../../catalog/change-entries.ts'
import { priceWords } from '../../catalog/entry-out.ts'
import { priceEntry } from '../../catalog/price-entry.ts'
import { priceFromRow } from '../../catalog/price-from-row.ts'
import { listPrices, type PriceRow } from '../../catalog/queries.ts'
import { mustBe } from '../../db/settings/values.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { listParameters, momentAt, orderOf, pageOf, pageSchema, rowPlaceAt } from './list.ts'
import { refuseManaged } from './managed.ts'
import { type AdminModelsContext, modelPath, modelToChange, priceAuthor, readModelAnswer } from './models.ts'
import { conflict } from './refusals.ts'
import { membersSchema } from './words.ts'

const priceVersion = z
  .object({
    id: z.uuid().describe('The id of the version, to which rows of the usage log refer.'),
    created_at: z.iso.datetime().describe('When the version took effect. It applies until the next version.'),
    source: z.string().describe('`gateway.yaml`, or who set the price.'),
    price: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The price in the format of gateway.yaml. Null if there is none.'),
  })
  .meta({ id: 'PriceVersion' })

const priceRequest = membersSchema(priceEntry, 'PriceRequest')

const newPrices = z
  .strictObject({
    prices: z
      .array(
        z.strictObject({
          model: z.string().describe('The id of the model.'),
          price: priceRequest.nullable().describe('Null: the model has no price of its own any more.'),
          price_version: z
            .uuid()
            .nullish()
            .describe(
              'The version that the new price is to replace, or null for a model without one. If another one is in force, nothing is changed. Absent: any.',
            ),
        }),
      )
      .min(1, { error: mustBe('a list of at least one price') })
      .max(1_000, { error: mustBe('a list of at most 1000 prices') }),
  })
  .meta({ id: 'NewPrices' })

const checkedPrices = z.object({ prices: z.array(z.object({ price: priceEntry.nullable() })) })

const newVersions = z
  .object({ data: z.array(z.object({ model: z.string(), version: priceVersion })) })
  .meta({ id: 'NewPriceVersions' })

const versionList = pageSchema(priceVersion).meta({ id: 'PriceVersionList' })

/** The versions of a model's price. A version never changes: a new price is a new version. */
export function modelPricesEndpoints(context: AdminModelsContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/models/{id}/prices',
      area: 'catalog',
      summary: "List the versions of a model's price",
      params: modelPath,
      query: z.strictObject(listParameters(['-created_at'])),
      answer: versionList,
      async handle({ params: { id }, query: { limit, sort, cursor } }) {
        const { descending } = orderOf(sort)
        const after = rowPlaceAt(sort, cursor)
        const rows = await context.database.reads.ask(({ db }) =>
          listPrices(db, {
            modelId: id,
            after: after === undefined ? undefined : { at: momentAt(after).toISOString(), id: after.id },
            descending,
            limit: limit + 1,
          }),
        )
        const page = pageOf(rows, { limit, sort }, ({ row }) => ({
          value: row.createdAt.toISOString(),
          id: row.id,
        }))
        return { body: { ...page, data: page.data.map(({ row }) => versionJson(row)) } }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/models/{id}/prices',
      area: 'catalog',
      ifMatch: 'model',
      summary: 'Set a new price',
      description:
        'The price applies within a second, to requests that begin afterwards. Earlier versions are kept.',
      params: modelPath,
      body: priceRequest,
      statuses: [201],
      answer: priceVersion,
      async change({ tx, actor, params: { id }, body, requireMatch, audit }) {
        const { before } = await modelToChange(tx, context, id, requireMatch)
        const price = checked(priceEntry, body)
        const version = await writePrice(tx, id, price, priceAuthor(actor))
        const [written] = await listPrices(tx, { modelId: id, version, descending: true, limit: 1 })
        if (written === undefined) throw new Error('the price was not written')
        const after = versionJson(written.row)
        await audit({
          action: 'model.price',
          resource: 'model',
          id,
          name: id,
          before: { price: before.price, price_version: before.price_version },
          after,
        })
        return { status: 201, body: after, etag: etagOf(await readModelAnswer(tx, id)) }
      },
    }),
    manyPricesEndpoint(context),
  ]
}

function manyPricesEndpoint(context: AdminModelsContext): AdminEndpoint {
  return adminChange({
    method: 'POST',
    path: '/admin/v1/prices',
    area: 'catalog',
    summary: 'Set new prices of several models at once',
    description: 'All of them take effect, or none. A price that a model already has creates no new version.',
    body: newPrices,
    statuses: [201],
    answer: newVersions,
    withinMs: 30_000,
    mayChangeNothing: true,
    async change({ tx, actor, body, audit }) {
      const { prices } = checked(checkedPrices, body)
      const rows = await rowsToChange(tx)
      const seen = new Set<string>()
      const data: z.output<typeof newVersions>['data'] = []
      for (const [at, { model: id, price_version: expected }] of body.prices.entries()) {
        const path = `prices[${at}]`
        const row = rows.models.find((one) => one.id === id)
        if (row === undefined) throw invalid(`${path}.model`, 'expected the id of a model')
        if (seen.has(id)) throw invalid(`${path}.model`, 'expected each model once')
        seen.add(id)
        await refuseManaged(tx, context, row, { kind: 'model', name: id })
        const newest = rows.prices.find(({ modelId }) => modelId === id)
        if (expected !== undefined && expected !== (newest?.id ?? null))
          throw conflict(
            `The price of model "${id}" was changed meanwhile. Read it again, then repeat the change.`,
            `${path}.price_version`,
          )
        const price = prices[at]?.price ?? undefined
        if (isSamePrice(newest, price)) continue
        const version = await writePrice(tx, id, price, priceAuthor(actor))
        const [written] = await listPrices(tx, { modelId: id, version, descending: true, limit: 1 })
        if (written === undefined) throw new Error('the price was not written')
        const after = versionJson(written.row)
        const before = { price: newest === undefined ? null : versionJson(newest).price }
        await audit({ action: 'model.price', resource: 'model', id, name: id, before, after })
        data.push({ model: id, version: after })
      }
      return { status: 201, body: { data } }
    },
  })
}

function versionJson(row: PriceRow): z.output<typeof priceVersion> {
  return {
    id: row.id,
    created_at: row.createdAt.toISOString(),
    source: row.source ?? 'gateway.yaml',
    price: priceWords(priceFromRow(row)) ?? null,
  }
}
