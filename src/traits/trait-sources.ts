import { mergeTraits, type Traits } from '../canonical/traits.ts'

/** Traits from one place. */
export interface TraitLayer {
  from: 'vendor' | 'family' | 'refusal' | 'probe' | 'file' | 'admin'
  traits: Traits | undefined
}

/**
 * The traits of an offer, in the words of gateway.yaml, each with the place that decides it: the last one
 * that has it. The layers are in the order of `OfferTraits`. `words` turns traits into those words.
 */
export function traitSources(
  layers: readonly TraitLayer[],
  words: (traits: Traits) => Record<string, unknown>,
): Record<string, { value: unknown; from: TraitLayer['from'] }> {
  const merged = words(mergeTraits(...layers.map(({ traits }) => traits)))
  return Object.fromEntries(
    Object.entries(merged).flatMap(([name, value]) => {
      const last = layers.findLast(({ traits }) => traits !== undefined && name in words(traits))
      return last === undefined ? [] : [[name, { value, from: last.from }]]
    }),
  )
}
