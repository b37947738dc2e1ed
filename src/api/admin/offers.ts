import { z } from 'zod'
import type { Json } from '../../canonical/json.ts'
import { isRecord } from '../../canonical/json.ts'
import { vendorByHost } from '../../catalog/channel-protocols.ts'
import { priceWords } from '../../catalog/entry-out.ts'
import { priceFromRow } from '../../catalog/price-from-row.ts'
import { type AllRows, type ChannelRow, readAllRows } from '../../catalog/queries.ts'
import { traitEntry, traitsInWords } from '../../catalog/trait-entry.ts'
import { builtInTraits } from '../../catalog/traits/offer-traits.ts'
import { type TraitLayer, traitSources } from '../../catalog/traits/trait-sources.ts'
import { vendorNames, vendors } from '../../catalog/traits/vendors.ts'
import { readVerdicts } from '../../catalog/verdict-queries.ts'
import { protocolNames } from '../../protocols/protocol.ts'
import { text } from '../parameter.ts'
import { channelEtag, managedBy } from './channel-json.ts'
import {
  type AdminChannelsContext,
  changeChannel,
  channelPath,
  channelToChange,
  foundChannel,
} from './channels.ts'
import { type AdminChange, type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, pageSchema } from './list.ts'
import type { AdminModelsContext } from './models.ts'
import { pageIn } from './page-in.ts'
import { notFound } from './refusals.ts'
import { membersSchema } from './words.ts'

const words = z.record(z.string(), z.unknown())

const offerAnswer = z
  .object({
    channel: z.string(),
    channel_id: z.uuid(),
    model: z.string(),
    upstream_model: z
      .string()
      .describe('The upstream\'s name for the model. "*" means that the client\'s name is passed through.'),
    state: z.enum(['enabled', 'disabled']).describe('`disabled` if the channel or the model is disabled.'),
    blocked: z.boolean().describe('Whether a person has blocked the channel.'),
    managed_by: managedBy,
    traits: words.nullable().describe('The traits stated for this offer.'),
    protocols: z.record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          value: z.unknown(),
          from: z
            .enum(['vendor', 'family', 'refusal', 'probe', 'file', 'admin'])
            .describe(
              'The source of the value: our tables of vendors and model families, a verdict, or a setting.',
            ),
        }),
      ),
    ),
    price: z
      .object({ source: z.string(), price: words })
      .nullable()
      .describe("The price of answers: the model's own price, or the library's."),
    verdicts: z.array(
      z.object({
        protocol: z.string(),
        subject: z.string(),
        origin: z.enum(['probe', 'refusal']),
        verdict: z.enum(['yes', 'no', 'unknown']),
        decided_at: z.iso.datetime(),
        expires_at: z.iso.datetime().nullable(),
      }),
    ),
  })
  .meta({ id: 'Offer' })

const offerList = pageSchema(offerAnswer).meta({ id: 'OfferList' })
const offerForm = z.strictObject({ upstream: z.string(), traits: traitEntry.optional() })
const onePath = channelPath.extend({
  model: z.string().describe('The model of the offer, with slashes encoded as %2F.'),
})
const offered = z
  .object({ channel: z.string(), models: z.union([z.literal('*'), words]) })
  .meta({ id: 'ChannelOffers' })

/** Offers: which channel serves which model, under what name, and with what capabilities. */
export function offersEndpoints(context: AdminChannelsContext & AdminModelsContext): AdminEndpoint[] {
  const { database } = context
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/offers',
      area: 'catalog',
      summary: 'List offers (models by channel) with traits, prices and verdicts',
      query: z.strictObject({
        ...listParameters(['model', 'channel']),
        channel: text.optional().describe('The name of a channel.'),
        model: text.optional(),
      }),
      answer: offerList,
      async handle({ query }) {
        const [rows, verdicts] = await Promise.all([
          database.reads.ask(({ db }) => readAllRows(db)),
          database.reads.ask(({ db }) => readVerdicts(db)),
        ])
        const channels = new Map(rows.channels.map((row) => [row.id, row]))
        const all = rows.offers.flatMap((offer) => {
          const channel = channels.get(offer.channelId)
          const isWanted =
            (query.model === undefined || query.model === offer.modelId) &&
            (query.channel === undefined || query.channel === channel?.name)
          return channel === undefined || !isWanted ? [] : [{ offer, channel }]
        })
        const page = pageIn(
          all,
          query,
          ({ offer, channel }, by) => (by === 'channel' ? channel.name : offer.modelId),
          ({ offer, channel }) => JSON.stringify([channel.name, offer.modelId]),
        )
        const data = page.data.map(({ offer, channel }) =>
          offerJson(offer, channel, { rows, verdicts, catalog: context.catalog }),
        )
        return { body: { ...page, data } }
      },
    }),
    adminChange({
      method: 'PUT',
      path: '/admin/v1/channels/{id}/offers/{model}',
      area: 'catalog',
      ifMatch: 'channel',
      summary: 'Offer a model on a channel, or change the offer',
      params: onePath,
      body: membersSchema(offerForm, 'OfferRequest'),
      answer: offered,
      async change({ tx, params: { id, model }, body, requireMatch, audit }) {
        const change = await channelToChange(tx, context, id, requireMatch)
        const offer = Object.keys(body).length === 1 ? (body.upstream ?? body) : body
        const models = { ...asMap(change.stored.words.models), [model]: offer }
        return await changeModels({ tx, audit }, context, change, models)
      },
    }),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/channels/{id}/offers/{model}',
      area: 'catalog',
      ifMatch: 'channel',
      summary: 'Remove a model from a channel',
      params: onePath,
      answer: offered,
      async change({ tx, params: { id, model }, requireMatch, audit }) {
        const change = await channelToChange(tx, context, id, requireMatch)
        const { [model]: gone, ...models } = asMap(change.stored.words.models)
        if (gone === undefined) throw notFound('offer for this model on the channel')
        return await changeModels({ tx, audit }, context, change, models)
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/channels/{id}/offers',
      area: 'catalog',
      summary: 'List the models of a channel',
      params: channelPath,
      answer: offered,
      async handle({ params: { id } }) {
        const rows = await database.reads.ask(({ db }) => readAllRows(db))
        const stored = foundChannel(rows, id, context.keeper)
        const { models } = stored.words
        return {
          body: { channel: stored.row.name, models: isRecord(models) ? models : ('*' as const) },
          etag: channelEtag(stored),
        }
      },
    }),
  ]
}

/** Replaces the models of a channel. */
async function changeModels(
  { tx, audit }: Pick<AdminChange, 'tx' | 'audit'>,
  context: AdminChannelsContext,
  change: Awaited<ReturnType<typeof channelToChange>>,
  models: Json,
) {
  const words = { ...change.stored.words, models }
  const { body, etag } = await changeChannel(tx, context, change, words, audit)
  return { body: { channel: body.name, models: body.models }, etag }
}

function asMap(models: unknown): Json {
  return isRecord(models) ? models : { '*': '*' }
}

type OfferRow = AllRows['offers'][number]
type VerdictRow = Awaited<ReturnType<typeof readVerdicts>>[number]

function offerJson(
  offer: OfferRow,
  channel: ChannelRow,
  {
    rows,
    verdicts,
    catalog,
  }: { rows: AllRows; verdicts: VerdictRow[] } & Pick<AdminModelsContext, 'catalog'>,
): z.output<typeof offerAnswer> {
  const model = rows.models.find(({ id }) => id === offer.modelId)
  const own = verdicts.filter(
    (one) => one.channelId === channel.id && one.upstreamModel === offer.upstreamModel,
  )
  const spoken = protocolNames.filter((name) => channel.protocols[name] !== undefined)
  return {
    channel: channel.name,
    channel_id: channel.id,
    model: offer.modelId,
    upstream_model: offer.upstreamModel,
    state: channel.disabledAt === null && (model?.disabledAt ?? null) === null ? 'enabled' : 'disabled',
    blocked: channel.blockedAt !== null,
    managed_by: channel.managedBy,
    traits: offer.traits === null ? null : traitsInWords(offer.traits),
    protocols: Object.fromEntries(
      spoken.map((protocol) => [
        protocol,
        traitSources(
          layersOf(offer, channel, {
            protocol,
            model,
            verdicts: own.filter((one) => one.protocol === protocol),
          }),
          traitsInWords,
        ),
      ]),
    ),
    price: priceOf(offer, channel, rows, catalog.snapshot),
    verdicts: own.map((one) => ({
      protocol: one.protocol,
      subject: one.subject,
      origin: one.origin,
      verdict: one.verdict,
      decided_at: one.decidedAt.toISOString(),
      expires_at: one.expiresAt?.toISOString() ?? null,
    })),
  }
}

function layersOf(
  offer: OfferRow,
  channel: ChannelRow,
  {
    protocol,
    model,
    verdicts,
  }: {
    protocol: (typeof protocolNames)[number]
    model: AllRows['models'][number] | undefined
    verdicts: VerdictRow[]
  },
): TraitLayer[] {
  const vendor =
    channel.vendor === null
      ? vendorByHost(channel.protocols)
      : vendorNames.find((name) => name === channel.vendor)
  const now = Date.now()
  return [
    { from: 'vendor', traits: vendor && vendors[vendor].traits[protocol] },
    { from: 'family', traits: builtInTraits(protocol, offer.upstreamModel, vendor) },
    ...verdicts
      .filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() > now)
      .map(({ origin, traits }): TraitLayer => ({ from: origin, traits: traits ?? undefined })),
    { from: model?.managedBy ?? 'file', traits: model?.traits ?? undefined },
    { from: channel.managedBy, traits: channel.traits ?? undefined },
    { from: channel.managedBy, traits: offer.traits ?? undefined },
  ]
}

function priceOf(
  offer: OfferRow,
  channel: ChannelRow,
  rows: AllRows,
  { models }: AdminModelsContext['catalog']['snapshot'],
): z.output<typeof offerAnswer>['price'] {
  const row = rows.prices.find(({ modelId }) => modelId === offer.modelId)
  const stated = row && priceWords(priceFromRow(row))
  if (row !== undefined && stated !== undefined)
    return { source: row.source ?? 'gateway.yaml', price: stated }
  const known = models.get(offer.modelId)?.offers.find((one) => one.channel.id === channel.id)
  const price = known?.libraryPrices?.of(offer.upstreamModel)
  const shown = price && priceWords(price)
  return price === undefined || shown === undefined
    ? null
    : { source: price.source ?? 'library', price: shown }
}
