import type { Traits } from '../canonical/traits.ts'
import type { Model } from '../catalog/snapshot.ts'

/**
 * The bound of output tokens for formats that require one, when the client set none. It never exceeds the
 * money held for such a request, because `worstCaseNano` counts the model's own bound or, without one, its
 * context length.
 */
export function outputTokensDefault(
  model: Pick<Model, 'maxOutputTokens' | 'contextLength'> | undefined,
  { maxOutputTokens }: Traits,
  fallback: number,
): number {
  const known = maxOutputTokens ?? fallback
  return model?.maxOutputTokens ?? Math.min(known, model?.contextLength ?? known)
}
