import type { Row } from './cells.ts'
import { cellText, mapOf } from './cells.ts'
import { product } from './decimal.ts'
import type { Problems } from './problems.ts'

/** The maps in the table `options` that define the prices of models and groups. */
export interface Ratios {
  of(option: RatioOption, name: string): string | undefined
  names(option: RatioOption): string[]
}

const ratioOptions = [
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'AudioRatio',
  'AudioCompletionRatio',
  'ModelPrice',
  'GroupRatio',
] as const
type RatioOption = (typeof ratioOptions)[number]

export function readRatios(options: readonly Row[], problems: Problems): Ratios {
  const maps = new Map<string, Map<string, string>>()
  for (const row of options) {
    const name = cellText(row, 'key')
    const known = ratioOptions.find((option) => option === name)
    if (known === undefined) continue
    const map = mapOf(cellText(row, 'value'))
    if (map === undefined) {
      problems.lost(`option ${name}`, 'its value is not a JSON map')
      continue
    }
    maps.set(known, new Map(Object.entries(map).map(([key, value]) => [key, String(value)])))
  }
  return {
    of: (option, name) => maps.get(option)?.get(name),
    names: (option) => [...(maps.get(option)?.keys() ?? [])],
  }
}

/**
 * A ratio of 1 is one quota unit per token, and 500,000 units are one dollar:
 * https://www.newapi.ai/en/docs/guide/console/settings/rate-settings, read 2026-11-23
 */
const usdPerMillion = '2'

/**
 * Returns the price in USD per million tokens. Undefined if the file contains no price for the model; this is
 * added to `problems`.
 */
export function priceOf(
  model: string,
  ratios: Ratios,
  problems: Problems,
): Record<string, string> | undefined {
  const where = `model "${model}"`
  const ratio = ratios.of('ModelRatio', model)
  const perCall = ratios.of('ModelPrice', model)
  if (perCall !== undefined) {
    const image = product(perCall)
    if (image === undefined) {
      problems.lost(where, 'its price per call, because it is not a decimal')
      return undefined
    }
    problems.changed(
      where,
      `its price of $${image} per call becomes its price per image; it has no price for text`,
    )
    return { image }
  }
  if (ratio === undefined) {
    problems.lost(
      where,
      'its price, because the options contain no ratio for it and the defaults of new-api are built into its program',
    )
    return undefined
  }
  const completion = ratios.of('CompletionRatio', model)
  const parts = {
    input: product(ratio, usdPerMillion),
    output: completion === undefined ? undefined : product(ratio, usdPerMillion, completion),
    cache_read: scaled('CacheRatio'),
    cache_write: scaled('CreateCacheRatio'),
    audio_input: scaled('AudioRatio'),
    audio_output: scaled('AudioRatio', 'AudioCompletionRatio'),
  }
  if (completion === undefined) {
    problems.lost(
      where,
      'its price for output, because CompletionRatio has no entry for it and the defaults of new-api are built into its program',
    )
  }
  return Object.fromEntries(
    Object.entries(parts).flatMap(([part, usd]) => (usd === undefined ? [] : [[part, usd] as const])),
  )

  function scaled(...options: RatioOption[]): string | undefined {
    const factors = options.map((option) => ratios.of(option, model))
    if (factors.some((factor) => factor === undefined)) return undefined
    return product(ratio ?? '', usdPerMillion, ...factors.map((factor) => factor ?? ''))
  }
}
