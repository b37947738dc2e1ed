/** How the summary of a compacted conversation appears in later requests. */
export function summaryText(summary: string): string {
  return `Summary of the conversation up to here, which replaces its earlier turns:\n\n${summary}`
}

/** Why a compacted conversation in one of our envelopes is refused. */
export const notOurs =
  'not compacted by this gateway, or modified since; send the conversation itself, or compact it again'
