import { z } from 'zod'

/**
 * The effect of translation on one field. `action` may be any word: another release may have written the row.
 */
export const translationNote = z
  .object({
    path: z
      .string()
      .describe("The field in the client's body, or after `answer.` the part of the upstream's answer."),
    action: z.string().describe('`mapped`, `emulated`, `defaulted`, `clamped` or `dropped`.'),
    reason: z.string(),
  })
  .meta({ id: 'TranslationNote' })
