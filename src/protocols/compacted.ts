/** How the summary of a compacted conversation appears in later requests. */
export function summaryText(summary: string): string {
  return `Summary of the conversation up to here, which replaces its earlier turns:\n\n${summary}`
}

/** Why a compacted conversation in our envelope is refused. */
export const notOurs =
  'this gateway did not compact it, or somebody changed it; send the conversation itself, or compact it again'
