import { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Model } from '../catalog/snapshot.ts'

/**
 * The model list as the Messages format's clients read it.
 * https://docs.anthropic.com/en/api/models-list, read 2026-11-21
 */
export function messagesList(models: readonly Model[], query: Json): Json {
  const limit = readLimit(query.limit)
  const after = typeof query.after_id === 'string' ? query.after_id : undefined
  const before = typeof query.before_id === 'string' ? query.before_id : undefined
  const from = after === undefined ? 0 : placeOf(models, after, 'after_id') + 1
  const to = before === undefined ? models.length : placeOf(models, before, 'before_id')
  // Before an id: the page that ends there.
  const page =
    before === undefined ? models.slice(from, from + limit) : models.slice(Math.max(from, to - limit), to)
  const data = page.map((model) => messagesModel(model, model.id))
  return {
    data,
    has_more: before === undefined ? from + limit < to : to - limit > from,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}

export function messagesModel(model: Model, id: string): Json {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: model.createdAt.toISOString(),
    max_input_tokens: model.contextLength ?? null,
    max_tokens: model.maxOutputTokens ?? null,
  }
}

const limitDefault = 20
const limitMax = 1000

function readLimit(value: unknown): number {
  if (value === undefined) return limitDefault
  const limit = Number(value)
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit
  throw new GatewayError('invalid_request', `limit: expected an integer from 1 to ${limitMax}`, {
    field: 'limit',
  })
}

function placeOf(models: readonly Model[], id: string, field: string): number {
  const at = models.findIndex((model) => model.id === id)
  if (at !== -1) return at
  throw new GatewayError('invalid_request', `${field}: no model with this id is in the list`, { field })
}
