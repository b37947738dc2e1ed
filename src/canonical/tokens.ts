/** English text and JSON have about four bytes to a token. */
export const bytesPerToken = 4

/** An estimate of the tokens of a text from its bytes, or from its characters if only those are known. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}
