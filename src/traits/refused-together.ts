import type { GatewayError } from '../canonical/error.ts'

/**
 * The members that upstreams refuse for the same reason as this one, and name one by one. Models that think
 * take none of the sampling: https://github.com/vercel/ai/issues/10932 (OpenAI's, with the penalties and the
 * bias), https://openrouter.ai/docs/guides/evaluate-and-optimize/model-migrations/claude-4-7, read
 * 2026-11-29.
 */
export function refusedTogether(
  member: string,
  { message }: Pick<GatewayError, 'message'>,
): readonly string[] {
  if (unknownField.test(message)) return []
  return Object.hasOwn(together, member) ? (together[member] ?? []) : []
}

/** A server that lacks one field may well have the others. */
const unknownField =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|extra inputs|cannot find field|not permitted)\b/i

const penalties = ['frequency_penalty', 'presence_penalty']

const together: Readonly<Record<string, readonly string[]>> = {
  temperature: ['top_p', 'top_k', ...penalties, 'logit_bias'],
  top_p: ['temperature', 'top_k', ...penalties, 'logit_bias'],
  frequency_penalty: penalties,
  presence_penalty: penalties,
}
