import type { Traits } from '../canonical/traits.ts'
import type { Model } from '../catalog/snapshot.ts'

/**
 * The bound of output tokens for formats that demand one, where the client set none. Never more than the
 * money that is held for such a request: `worstCaseNano` counts the model's own bound, or else its context
 * length.
 */
export function outputTokensDefault(
  model: Pick<Model, 'maxOutputTokens' | 'contextLength'> | undefined,
  { maxOutputTokens }: Traits,
  fallback: number,
): number {
  const known = maxOutputTokens ?? fallback
  return model?.maxOutputTokens ?? Math.min(known, model?.contextLength ?? known)
}
