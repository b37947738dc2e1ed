/**
 * The members that upstreams refuse for the same reason as this one, and name one by one. Models that think take none of the sampling:
 * https://github.com/vercel/ai/issues/10932 (OpenAI's, with the penalties and the bias),
 * https://openrouter.ai/docs/guides/evaluate-and-optimize/model-migrations/claude-4-7, read 2026-11-29.
 */
export function refusedTogether(member: string): readonly string[] {
  return together[member] ?? []
}

const penalties = ['frequency_penalty', 'presence_penalty']

const together: Readonly<Record<string, readonly string[]>> = {
  temperature: ['top_p', 'top_k', ...penalties, 'logit_bias'],
  top_p: ['temperature', 'top_k', ...penalties, 'logit_bias'],
  frequency_penalty: penalties,
  presence_penalty: penalties,
}
