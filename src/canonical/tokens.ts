/** English text and JSON average about four bytes per token. */
export const bytesPerToken = 4

/**
 * Estimates the number of tokens in a text from its bytes, or from its characters if only those are known.
 */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}
