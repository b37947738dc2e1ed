import { z } from 'zod'
import { oneOfWords, text } from '../parameter.ts'

// Settings that several resources show, and filters that several lists have.

/** For a new budget, what has already been spent is added up; see count_new_budgets. */
export const budgetMs = 30_000

export const managedByShown = z
  .enum(['file', 'admin'])
  .describe('`file`: managed by gateway.yaml and can only be changed there.')

export const nameFilters = {
  name: text.optional().describe('The exact name.'),
  search: text.optional().describe('Part of the name, case-insensitive.'),
  managed_by: oneOfWords(['file', 'admin']).optional(),
}

export const yesOrNo = oneOfWords(['true', 'false']).transform((word) => word === 'true')

/** The path of a resource with an id and a name of its own. */
export const calledParams = z.object({ id: text.describe('The id or the name of the resource.') })

export const deletedAnswer = z.object({ id: z.uuid(), deleted: z.literal(true) }).meta({ id: 'Deleted' })
