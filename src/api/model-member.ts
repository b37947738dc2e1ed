import { z } from 'zod'
import { modelCharactersMax, modelProblem } from '../protocols/model-name.ts'

/** The member of a body that names a model, checked as every other endpoint checks it. */
export const modelMember = z
  .string({ error: ({ input }) => modelProblem(input) })
  .superRefine((value, context) => {
    const message = modelProblem(value)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  .meta({ minLength: 1, maxLength: modelCharactersMax })
