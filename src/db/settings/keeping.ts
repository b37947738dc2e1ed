import { z } from 'zod'
import type { FieldOfForm } from './setting.ts'
import { wholeNumber } from './values.ts'

/** The days for which answers are kept for later requests; 0 if none are kept. */
export const keepingWords = z.strictObject({ store: z.boolean(), days: wholeNumber(1, 365).default(30) })
export const keptDaysOf = ({ store, days }: z.output<typeof keepingWords>) => (store ? days : 0)
export const keeping = keepingWords.transform(keptDaysOf)

export const keepingShown = z.object({
  store: z.boolean(),
  days: z
    .int()
    .optional()
    .describe('The number of days for which answers are kept. Absent if none are kept.'),
})

export function keepingJson(keptDays: number): z.output<typeof keepingShown> {
  return keptDays === 0 ? { store: false } : { store: true, days: keptDays }
}

/** `store`: how the form asks whether they are kept. */
export const keepingForm = (section: string, store: Pick<FieldOfForm, 'kind' | 'isBoolean' | 'options'>) => ({
  store: { section, label: 'Keep answers for later requests', ...store },
  days: { section, label: 'Days to keep them', kind: 'integer' as const, placeholder: '30' },
})
