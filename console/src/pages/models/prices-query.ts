import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiError, api, ask, type Schema } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { type PriceDraft, priceOf } from './price-draft.ts'

export type PricedModel = Schema<'ListedModel'>

/** All models with the price in force and the library's. */
export const pricedModelsQuery = queryOptions({
  queryKey: ['models', 'priced'],
  queryFn: ({ signal }) =>
    readAll(
      (page) =>
        ask(
          api.GET('/admin/v1/models', {
            params: { query: { limit: 200, suggestions: 'true', ...page } },
            signal,
          }),
        ),
      Number.POSITIVE_INFINITY,
    ),
})

/** Sets the prices of all these models, or of none of them. */
export async function savePrices(
  client: QueryClient,
  changed: readonly { model: PricedModel; draft: PriceDraft }[],
): Promise<number> {
  const { data } = await ask(
    api.POST('/admin/v1/prices', {
      body: {
        prices: changed.map(({ model, draft }) => ({
          model: model.id,
          price: priceOf(draft),
          price_version: model.price_version?.id ?? null,
        })),
      },
    }),
  )
  await client.invalidateQueries({ queryKey: ['models'] })
  return data.length
}

/** What the API refused, by the id of the model and the part; `price` is the whole of it. */
export function refusedParts(
  error: unknown,
  changed: readonly { model: PricedModel }[],
): ReadonlyMap<string, Readonly<Record<string, string>>> {
  if (!(error instanceof ApiError)) return new Map()
  const refused = new Map<string, Readonly<Record<string, string>>>()
  for (const { pointer, detail } of error.fields) {
    const [, at, part = 'price'] = /^#\/prices\/(\d+)(?:\/price\/([^/]+))?/.exec(pointer) ?? []
    const id = changed[Number(at)]?.model.id
    if (id !== undefined) refused.set(id, { ...refused.get(id), [part]: detail })
  }
  return refused
}
