import { mergeTraits, type Traits } from '../../canonical/traits.ts'

/** Traits from one source. */
export interface TraitLayer {
  from: 'vendor' | 'family' | 'refusal' | 'probe' | 'file' | 'admin'
  traits: Traits | undefined
}

/**
 * The traits of an offer, named as in gateway.yaml, each with the source that determines it, which is the
 * last one that sets it. The layers are in the order used by `OfferTraits`. `words` converts traits to the
 * names of gateway.yaml.
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
