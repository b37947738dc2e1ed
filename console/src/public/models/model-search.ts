import type { Texts } from '../../console-search.ts'
import type { Model } from './catalog.ts'
import { type Feature, features } from './features.ts'
import { comparePrices } from './prices.ts'

export const sorts = ['name', 'context', 'output', 'input-price', 'output-price'] as const
export type ModelSort = (typeof sorts)[number]

/** What the address of the models' page says. */
export interface ModelSearch {
  words: string
  features: readonly Feature[]
  group: string | undefined
  sort: ModelSort
  isDescending: boolean
}

export function readModelSearch(search: Texts): ModelSearch {
  const one = (name: string) => [search[name]].flat()[0]
  const wanted = [search.feature ?? []].flat()
  const sort = one('sort') ?? ''
  return {
    words: one('q') ?? '',
    features: features.filter(({ id }) => wanted.includes(id)),
    group: one('group'),
    sort: sorts.find((name) => name === sort.replace(/^-/, '')) ?? 'name',
    isDescending: sort.startsWith('-'),
  }
}

/** The models that have every word in a name, and every feature, in order. */
export function found(models: readonly Model[], search: ModelSearch): Model[] {
  const words = search.words.toLowerCase().split(/\s+/).filter(Boolean)
  const rows = models.filter((model) => {
    const names = [model.id, ...model.aliases].join(' ').toLowerCase()
    return words.every((word) => names.includes(word)) && search.features.every(({ has }) => has(model))
  })
  const sign = search.isDescending ? -1 : 1
  return rows.sort((a, b) => compare(a, b, search.sort, sign) || (a.id < b.id ? -1 : 1))
}

/** Unknown values come last, whichever way the rest goes. */
function compare(a: Model, b: Model, sort: ModelSort, sign: number): number {
  const [first, second] = [sortedBy(a, sort), sortedBy(b, sort)]
  if (first === null || second === null) return Number(first === null) - Number(second === null)
  if (typeof first === 'number' && typeof second === 'number') return sign * (first - second)
  if (sort === 'name') return sign * (first < second ? -1 : Number(first > second))
  return sign * comparePrices(String(first), String(second))
}

function sortedBy(model: Model, sort: ModelSort): string | number | null {
  switch (sort) {
    case 'name':
      return model.id
    case 'context':
      return model.context_length
    case 'output':
      return model.max_output_tokens
    case 'input-price':
      return model.pricing?.input ?? null
    case 'output-price':
      return model.pricing?.output ?? null
  }
}
