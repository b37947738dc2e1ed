import { hostedWorkIn } from '../bodies/hosted-work.ts'
import { addUsage, type Usage } from '../canonical/usage.ts'
import type { Model } from '../catalog/snapshot.ts'
import { int4 } from '../journal/column.ts'
import { hiddenInputIn } from '../protocols/hidden-input.ts'
import type { Asked } from './read.ts'

/**
 * Returns false when a request cannot have used what its upstream reports. Input is at most the model's
 * context, or as many tokens as the body has bytes, because some endpoints accept many inputs with a context
 * each. Output is at most what the model can write. The client's bound can only raise this limit:
 * translations raise that bound, and some vendors do not count reasoning in it.
 */
export function isPlausible(
  asked: Pick<Asked, 'body' | 'facts' | 'large' | 'endpoint'>,
  {
    contextLength = int4.max,
    maxOutputTokens = contextLength,
  }: Pick<Model, 'contextLength' | 'maxOutputTokens'>,
  usage: Usage,
): boolean {
  const { body, facts } = asked
  const all = usage.others?.reduce((sum, { usage: other }) => addUsage(sum, other), usage) ?? usage
  const input = all.input + all.cacheRead + all.cacheWrite
  const output = all.output + all.reasoning
  if (input >= int4.max || output >= int4.max) return false
  const inputMax = Math.max(contextLength, body.length)
  const outputMax = facts.choices * Math.max(maxOutputTokens, facts.maxOutputTokens ?? 0)
  if (input <= inputMax && output <= outputMax) return true
  return input <= hostedPassesMax * inputMax && output <= hostedPassesMax * outputMax && mayTakePasses(asked)
}

/** Work that the vendor itself does for a request, such as a search, makes the model read and write again. */
function mayTakePasses({ body, large, endpoint }: Pick<Asked, 'body' | 'large' | 'endpoint'>): boolean {
  if (hiddenInputIn(body, endpoint.client.plainInput).length > 0) return true
  const { searchesWeb, compacts, asksAdvisor } = large?.hostedWork ?? hostedWorkIn(body)
  return searchesWeb || compacts || asksAdvisor
}

/** No hosted tool makes a model read its whole context more often than this for one answer. */
const hostedPassesMax = 100
