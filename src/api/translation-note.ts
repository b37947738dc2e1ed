import { z } from 'zod'

/** What translation did to one field. The words are open: rows may be of another release. */
export const translationNote = z
  .object({
    path: z.string().describe("The field, in the client's body."),
    action: z.string().describe('`mapped`, `emulated`, `defaulted`, `clamped` or `dropped`.'),
    reason: z.string(),
  })
  .meta({ id: 'TranslationNote' })
