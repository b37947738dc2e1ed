import type { Usage } from '../canonical/usage.ts'

/**
 * Answers with a good status that are not answers. Before its client has content of one, another channel is
 * asked.
 */

/**
 * Whether an answer without content is a failure: the upstream ends it as a whole one, and counts no output.
 * One with output is an answer: the model chose to say nothing, or thought.
 */
export function isEmptyAnswer(reason: string | undefined, usage: Usage): boolean {
  return usage.output + usage.reasoning === 0 && (reason === undefined || reason === 'stop')
}
