import { hashKey, type QueryKey } from '@tanstack/react-query'

/**
 * For `placeholderData`: the last answer is shown until the next one only if both begin with `question`, the
 * part of a query key that does not move. A live page must not blink, and must not show rows of one table,
 * tenant or channel under another's name.
 */
export function keptFor(question: QueryKey) {
  return <T>(answer: T | undefined, former: { queryKey: QueryKey } | undefined): T | undefined =>
    former !== undefined && hashKey(former.queryKey.slice(0, question.length)) === hashKey(question)
      ? answer
      : undefined
}
