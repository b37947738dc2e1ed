import { createHash } from 'node:crypto'
import { z } from 'zod'
import { checked } from '../canonical/checked.ts'
import { type Json, textOf } from '../canonical/json.ts'
import type { ItemForm } from '../protocols/protocol-state.ts'
import { itemsOf, type KeptTurn } from '../state/kept/kept-answers.ts'
import { oneOfWords } from './parameter.ts'

const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: oneOfWords(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
})

/**
 * Returns a page of the items before a kept answer: all turns that it continues, and the input of its own
 * request. Items without an id are given one, which is the same in every call.
 * https://platform.openai.com/docs/api-reference/responses/input-items, read 2026-11-23
 */
export function inputItems(form: ItemForm, answerId: string, turns: readonly KeptTurn[], url: URL): Json {
  const { limit, order, after } = checked(listQuery, Object.fromEntries(url.searchParams))
  const texts = turns.flatMap(({ input, output }, at) =>
    at === turns.length - 1 ? [input] : [input, output],
  )
  const items = texts.flatMap(itemsOf).map((item, at) => {
    const prefix = form.idPrefix(item)
    return form.shown(textOf(item.id) ?? idFor(prefix, answerId, at), item)
  })
  const ordered = order === 'asc' ? items : items.toReversed()
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  const data = ordered.slice(from, from + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  }
}

function idFor(prefix: string, answerId: string, at: number): string {
  const hash = createHash('sha256').update(`${answerId} ${at}`).digest('hex').slice(0, 32)
  return `${prefix}_${hash}`
}
