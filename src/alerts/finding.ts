/** A subject for which the condition of a rule currently holds. */
export interface AlertFinding {
  /** Distinguishes the subjects of a rule. Each period of a budget is a separate subject. */
  subject: string
  /** The name for display, such as `channel openai-eu`. */
  name: string
  /** The value that was compared with the threshold, including its unit. */
  value: string
  /** The message, as a complete sentence. */
  summary: string
  details: Record<string, string | number | readonly string[]>
}

/** The maximum number of subjects of a rule that an evaluation reads. */
export const subjectsMax = 1000
