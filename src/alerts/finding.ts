/** A subject for which the condition of a rule holds now. */
export interface AlertFinding {
  /** Tells the subjects of a rule apart. Another period of a budget is another subject. */
  subject: string
  /** For people, such as `channel openai-eu`. */
  name: string
  /** The value that was compared, with its unit. */
  value: string
  /** The message, a whole sentence. */
  summary: string
  details: Record<string, string | number | readonly string[]>
}

/** Most subjects of a rule that an evaluation reads. */
export const subjectsMax = 1000
