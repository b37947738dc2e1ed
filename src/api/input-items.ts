import { createHash } from 'node:crypto'
import { z } from 'zod'
import { checked } from '../canonical/checked.ts'
import type { Json } from '../canonical/json.ts'
import { shownItemOf } from '../state/kept/conversation-items.ts'
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
export function inputItems(answerId: string, turns: readonly KeptTurn[], url: URL): Json {
  const { limit, order, after } = checked(listQuery, Object.fromEntries(url.searchParams))
  const texts = turns.flatMap(({ input, output }, at) =>
    at === turns.length - 1 ? [input] : [input, output],
  )
  const items = texts
    .flatMap(itemsOf)
    .map((item, at) => shownItemOf(typeof item.id === 'string' ? item.id : idFor(answerId, item, at), item))
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

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
}

function idFor(answerId: string, { type }: Json, at: number): string {
  const hash = createHash('sha256').update(`${answerId} ${at}`).digest('hex').slice(0, 32)
  return `${prefixes[String(type ?? 'message')] ?? 'item'}_${hash}`
}
