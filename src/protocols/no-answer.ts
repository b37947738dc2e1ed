import type { Usage } from '../canonical/usage.ts'

/**
 * Responses with a success status that contain no answer. If the client has not received any content yet,
 * another channel is tried.
 */

/**
 * Whether an answer without content is a failure, which is the case if the upstream ends it normally and
 * reports no output tokens. With output tokens it is a valid answer: the model chose to say nothing, or only
 * thought.
 */
export function isEmptyAnswer(reason: string | undefined, usage: Usage): boolean {
  return usage.output + usage.reasoning === 0 && (reason === undefined || reason === 'stop')
}
