/** A rule that must hold, and the rows that break it. */
export interface RuleFinding {
  rule: string
  /** How many rows break the rule. */
  differences: number
  /** A few of these rows, to look at. */
  samples: string[]
}
