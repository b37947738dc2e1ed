/** English text and JSON have about four bytes to a token. */
export const bytesPerToken = 4

/** About how many tokens a text is, by its bytes, or by its characters where only those are known. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}
