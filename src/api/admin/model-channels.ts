import { z } from 'zod'
import { priceWords } from '../../catalog/entry-out.ts'
import type { AllRows } from '../../catalog/queries.ts'
import { servingOffers } from '../../catalog/serving-offers.ts'
import type { Snapshot } from '../../catalog/snapshot.ts'

/** What a model has from its channels. It is not in the model's ETag, because other resources change it. */
export const channelMembers = {
  channels: z
    .array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        state: z.enum(['enabled', 'disabled']).describe('The state of the channel.'),
        blocked: z.boolean().describe('Whether a person has blocked the channel.'),
        by: z
          .enum(['name', 'wildcard'])
          .describe(
            '`name`: the channel offers the model by its name. `wildcard`: it offers "*", and no channel offers the model by its name.',
          ),
        upstream_model: z.string().describe("The upstream's name for the model."),
      }),
    )
    .describe('The channels that serve the model, sorted by name.'),
  library_prices: z
    .array(
      z.object({
        channel: z.string(),
        upstream_model: z.string(),
        source: z.string(),
        price: z.record(z.string(), z.unknown()),
      }),
    )
    .describe("The library's prices by channel, which apply if the model has no price of its own."),
}

type ChannelMembers = z.output<z.ZodObject<typeof channelMembers>>

/** Returns the function that adds to a model what it has from its channels. */
export function withChannels(rows: AllRows, snapshot: Snapshot) {
  const byModel = Map.groupBy(rows.offers, ({ modelId }) => modelId)
  const channels = new Map(rows.channels.map((row) => [row.id, row]))
  return <Model extends { id: string }>(model: Model): Model & ChannelMembers => ({
    ...model,
    channels: servingOffers(byModel, model.id)
      .flatMap(({ channelId, modelId, upstreamModel }) => {
        const channel = channels.get(channelId)
        if (channel === undefined) return []
        return [
          {
            id: channel.id,
            name: channel.name,
            state: channel.disabledAt === null ? ('enabled' as const) : ('disabled' as const),
            blocked: channel.blockedAt !== null,
            by: modelId === '*' ? ('wildcard' as const) : ('name' as const),
            upstream_model: upstreamModel === '*' ? model.id : upstreamModel,
          },
        ]
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    library_prices: libraryPricesOf(snapshot, model.id),
  })
}

/** Returns whether the channel with this name serves a model. */
export function servedBy({ channels, offers }: AllRows, name: string): (model: string) => boolean {
  const byModel = Map.groupBy(offers, ({ modelId }) => modelId)
  const channel = channels.find((row) => row.name === name)
  return (model) => servingOffers(byModel, model).some(({ channelId }) => channelId === channel?.id)
}

function libraryPricesOf({ models }: Snapshot, id: string): ChannelMembers['library_prices'] {
  const model = models.get(id)
  if (model === undefined || model.price !== undefined) return []
  return model.offers.flatMap(({ channel, upstreamModel, libraryPrices }) => {
    const name = upstreamModel === '*' ? id : upstreamModel
    const price = libraryPrices?.of(name)
    const shown = price && priceWords(price)
    if (price === undefined || shown === undefined) return []
    return [{ channel: channel.name, upstream_model: name, source: price.source ?? 'library', price: shown }]
  })
}
