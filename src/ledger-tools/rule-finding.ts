/** A rule that must hold, and the rows that violate it. */
export interface RuleFinding {
  rule: string
  /** The number of rows that violate the rule. */
  differences: number
  /** A few of these rows, for inspection. */
  samples: string[]
}
