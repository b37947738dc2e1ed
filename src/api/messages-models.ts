import { z } from 'zod'
import { invalid } from '../canonical/field-error.ts'
import type { Group, Model } from '../catalog/snapshot.ts'
import { mapInTurns } from './in-turns.ts'
import { sizesOf, traitsFor } from './model-capabilities.ts'
import { text, wholeNumber } from './parameter.ts'

/** https://platform.claude.com/docs/en/api/models/list and @anthropic-ai/sdk 1.12.0, read 2026-11-28 */
export const messagesQuery = z.object({
  limit: wholeNumber(1, 1000).default(20),
  after_id: text.optional().describe('Returns the models after this one.'),
  before_id: text.optional().describe('Returns the page that ends just before this model.'),
})

export const messagesModel = z
  .object({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.iso.datetime(),
    max_input_tokens: z.int().nullable(),
    max_tokens: z.int().nullable(),
    lifecycle: z
      .literal('active')
      .describe('Always `active`, because only models that are served are listed.'),
    deprecated_at: z.null(),
    retires_at: z.null(),
    line: z.null(),
    capabilities: z
      .null()
      .describe(
        'Always null. `GET /v1/models` without `anthropic-version` returns the capabilities in our own form.',
      ),
  })
  .meta({ id: 'MessagesModel' })

export const messagesModelList = z
  .object({
    data: z.array(messagesModel),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: 'MessagesModelList' })

/** Returns a page of the models in the form used by clients of the Messages format. */
export async function messagesListJson(
  models: readonly Model[],
  { limit, after_id: after, before_id: before }: z.output<typeof messagesQuery>,
  group: Group,
): Promise<z.output<typeof messagesModelList>> {
  const from = after === undefined ? 0 : placeOf(models, after, 'after_id') + 1
  const to = before === undefined ? models.length : placeOf(models, before, 'before_id')
  // `before_id` requests the page that ends just before that model.
  const page =
    before === undefined ? models.slice(from, from + limit) : models.slice(Math.max(from, to - limit), to)
  return {
    data: await mapInTurns(page, (model) => messagesJson(model, model.id, group)),
    has_more: before === undefined ? from + limit < to : to - limit > from,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}

export function messagesJson(model: Model, id: string, group: Group): z.output<typeof messagesModel> {
  const { contextLength, maxOutputTokens } = sizesOf(model, traitsFor(model, id, group))
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: model.createdAt.toISOString(),
    max_input_tokens: contextLength,
    max_tokens: maxOutputTokens,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    capabilities: null,
  }
}

function placeOf(models: readonly Model[], id: string, field: string): number {
  const at = models.findIndex((model) => model.id === id)
  if (at !== -1) return at
  throw invalid(field, 'there is no model with this id in the list')
}
