import { z } from 'zod'

/**
 * The effect of translation on one field. `action` can be any text, because another release may have written
 * the row.
 */
export const translationNote = z
  .object({
    path: z
      .string()
      .describe("The path of the field in the client's body, or, after `answer.`, in the upstream's answer."),
    action: z.string().describe('`mapped`, `emulated`, `defaulted`, `clamped` or `dropped`.'),
    reason: z.string(),
  })
  .meta({ id: 'TranslationNote' })
