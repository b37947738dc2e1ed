import { z } from 'zod'
import type { ExportFormat } from './export/formats.ts'
import { oneOfWords } from './parameter.ts'

/** Comma-separated names. */
export function columnsParameter(names: readonly string[]) {
  return z
    .string({ error: 'given more than once' })
    .transform((text, context) => {
      const asked = [...new Set(text.split(','))]
      const wrong = asked.find((name) => !names.includes(name))
      if (wrong !== undefined)
        context.addIssue({ code: 'custom', message: `there is no column "${wrong.slice(0, 64)}"` })
      return asked
    })
    .meta({ type: 'string' })
    .describe(
      `A comma-separated list of the columns in the file, in order. Default: the columns of the list. Available columns: ${names.join(', ')}.`,
    )
}

export const formatParameter = <const Formats extends readonly ExportFormat[]>(formats: Formats) =>
  oneOfWords(formats).describe('The format of the file.')
