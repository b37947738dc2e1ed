import type { GatewayError } from '../../canonical/error.ts'

/**
 * The members that upstreams refuse for the same reason as this one but report one at a time. Reasoning
 * models accept no sampling parameters: https://github.com/vercel/ai/issues/10932 (OpenAI's, including the
 * penalties and the logit bias),
 * https://openrouter.ai/docs/guides/evaluate-and-optimize/model-migrations/claude-4-7, read 2026-11-29.
 */
export function refusedTogether(
  member: string,
  { message }: Pick<GatewayError, 'message'>,
): readonly string[] {
  if (unknownField.test(message)) return []
  return Object.hasOwn(together, member) ? (together[member] ?? []) : []
}

/** A server that does not know one field can still support the others. */
const unknownField =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|extra inputs|cannot find field|not permitted)\b/i

const penalties = ['frequency_penalty', 'presence_penalty']

const together: Readonly<Record<string, readonly string[]>> = {
  temperature: ['top_p', 'top_k', ...penalties, 'logit_bias'],
  top_p: ['temperature', 'top_k', ...penalties, 'logit_bias'],
  frequency_penalty: penalties,
  presence_penalty: penalties,
}
