import { z } from 'zod'
import { checked } from '../../canonical/checked.ts'
import { writePrice } from '../../catalog/change-entries.ts'
import { priceWords } from '../../catalog/entry-out.ts'
import { priceEntry } from '../../catalog/price-entry.ts'
import { priceFromRow } from '../../catalog/price-from-row.ts'
import { listPrices, type PriceRow } from '../../catalog/queries.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { listParameters, momentAt, orderOf, pageOf, pageSchema, rowPlaceAt } from './list.ts'
import { type AdminModelsContext, modelPath, modelToChange, priceAuthor, readModelAnswer } from './models.ts'
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
      body: membersSchema(priceEntry, 'PriceRequest'),
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
  ]
}

function versionJson(row: PriceRow): z.output<typeof priceVersion> {
  return {
    id: row.id,
    created_at: row.createdAt.toISOString(),
    source: row.source ?? 'gateway.yaml',
    price: priceWords(priceFromRow(row)) ?? null,
  }
}
