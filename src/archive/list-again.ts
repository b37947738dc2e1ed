/**
 * A file that was listed is not there any more: it was replaced, or its retention ended. List the files
 * again.
 */
export class ListAgainError extends Error {
  override readonly name = 'ListAgainError'
}

/** How often a query starts over for it. */
export const listAgainMax = 2
