import { z } from 'zod'
import { modelCharactersMax, modelProblem } from '../protocols/model-name.ts'

/** The member of a body that names a model, with the same checks as in every other endpoint. */
export const modelMember = z
  .string({ error: ({ input }) => modelProblem(input) })
  .superRefine((value, context) => {
    const message = modelProblem(value)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  .meta({ minLength: 1, maxLength: modelCharactersMax })
