/**
 * A listed file no longer exists because it was replaced or its retention ended. The caller must list the
 * files again.
 */
export class ListAgainError extends Error {
  override readonly name = 'ListAgainError'
}

/** How often a query is restarted after this error. */
export const listAgainMax = 2
