/**
 * The members that upstreams refuse for the same reason as this one, and name one by one. Models that think take none of the
 * sampling: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/reasoning,
 * https://platform.claude.com/docs/en/about-claude/models/migration-guide, and none of the penalties: https://docs.x.ai/docs/guides/reasoning,
 * read 2026-11-28.
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
