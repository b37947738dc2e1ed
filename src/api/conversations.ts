import { z } from 'zod'
import { gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { type Json, textOf } from '../canonical/json.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import type { Identified } from '../pipeline/identify.ts'
import { conversationState } from '../protocols/index.ts'
import type { Conversation } from '../state/kept/conversations.ts'
import { keptDaysOf, keptScopeOf } from '../state/kept/kept-answers.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { oneOfWords, wholeNumber } from './parameter.ts'

const path = '/v1/conversations'
const base = { logged: true, limited: true } as const

const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, { error: 'expected at most 16 entries' })
  .describe('At most 16 entries with string values.')

const item = z
  .looseObject({})
  .meta({ id: 'ConversationItem', description: 'An item in the Responses format.' })

const newItems = z.array(item).max(20).describe('At most 20 items.')

const conversation = z
  .object({
    id: z.string(),
    object: z.literal('conversation'),
    created_at: z.int().describe('Seconds since the epoch.'),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Conversation' })

const conversationDeleted = z
  .object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) })
  .meta({ id: 'ConversationDeleted' })

const itemPage = z
  .object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'ConversationItemPage' })

/** Items are always returned with everything that is stored about them. */
const include = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .describe('Ignored, because items always contain everything that is stored about them.')

const listQuery = z.object({
  after: z.string().optional().describe('The id of the last item of the previous page.'),
  limit: wholeNumber(1, 100).default(20).describe('The maximum number of items per page.'),
  order: oneOfWords(['asc', 'desc']).default('desc'),
  include,
})
const includeQuery = z.object({ include })

const ofOne = z.object({ id: z.string() })
const ofItem = z.object({ id: z.string(), item_id: z.string() })

/** Conversations that the gateway stores, with any upstream, for keys that are allowed to keep answers. */
export function conversationEndpoints({ kept }: Pick<Gateway, 'kept'>): ClientEndpoint[] {
  const { conversations } = kept
  return [
    keyEndpoint({
      ...base,
      method: 'POST',
      path,
      summary: 'Create a conversation',
      description:
        'The key, or its group, must be set to keep answers. Requests refer to the conversation in `conversation`; each request adds its own items and those of its answer.',
      body: z
        .object({ metadata: metadata.nullish(), items: newItems.nullish() })
        .meta({ id: 'NewConversation' }),
      answer: conversation,
      async handle({ stage, body }) {
        const days = requireKeeping(stage)
        const items = checkedItems(body.items ?? [])
        const made = { metadata: body.metadata ?? {}, items, days }
        return { body: shown(await conversations.create(stage.identity, made)) }
      },
    }),
    keyEndpoint({
      ...base,
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get a conversation',
      params: ofOne,
      answer: conversation,
      async handle({ stage, params: { id } }) {
        return { body: shown(await conversations.find(scope(stage), id)) }
      },
    }),
    keyEndpoint({
      ...base,
      method: 'POST',
      path: `${path}/{id}`,
      summary: 'Update the metadata of a conversation',
      params: ofOne,
      body: z.object({ metadata: metadata.nullable() }).meta({ id: 'ConversationChange' }),
      answer: conversation,
      async handle({ stage, params: { id }, body }) {
        const days = requireKeeping(stage)
        const changed = { metadata: body.metadata ?? {}, days }
        return { body: shown(await conversations.update(scope(stage), id, changed)) }
      },
    }),
    keyEndpoint({
      ...base,
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Delete a conversation and its items',
      description: 'Answers to its requests can no longer be continued by their ids.',
      params: ofOne,
      answer: conversationDeleted,
      async handle({ stage, params: { id } }) {
        await conversations.delete(scope(stage), id)
        return { body: { id, object: 'conversation.deleted' as const, deleted: true as const } }
      },
    }),
    ...itemEndpoints(kept),
  ]
}

function itemEndpoints({ conversations }: Gateway['kept']): ClientEndpoint[] {
  return [
    keyEndpoint({
      ...base,
      method: 'POST',
      path: `${path}/{id}/items`,
      summary: 'Add items to a conversation',
      description: 'Refused with `conversation_locked` while a request is running in the conversation.',
      params: ofOne,
      query: includeQuery,
      body: z.object({ items: newItems.min(1) }).meta({ id: 'NewConversationItems' }),
      answer: itemPage,
      async handle({ stage, params: { id }, body }) {
        const days = requireKeeping(stage)
        const items = checkedItems(body.items)
        const added = await conversations.add(scope(stage), id, { items, requestId: stage.id, days })
        return { body: pageOf(added, false) }
      },
    }),
    keyEndpoint({
      ...base,
      method: 'GET',
      path: `${path}/{id}/items`,
      summary: 'List the items of a conversation',
      params: ofOne,
      query: listQuery,
      answer: itemPage,
      async handle({ stage, params: { id }, query: { after, order, limit } }) {
        const { items, hasMore } = await conversations.page(scope(stage), id, { after, order, limit })
        return { body: pageOf(items, hasMore) }
      },
    }),
    keyEndpoint({
      ...base,
      method: 'GET',
      path: `${path}/{id}/items/{item_id}`,
      summary: 'Get an item of a conversation',
      params: ofItem,
      query: includeQuery,
      answer: item,
      async handle({ stage, params: { id, item_id: itemId } }) {
        return { body: await conversations.item(scope(stage), id, itemId) }
      },
    }),
    keyEndpoint({
      ...base,
      method: 'DELETE',
      path: `${path}/{id}/items/{item_id}`,
      summary: 'Delete an item of a conversation',
      description: 'Returns the conversation.',
      params: ofItem,
      answer: conversation,
      async handle({ stage, params: { id, item_id: itemId } }) {
        return { body: shown(await conversations.deleteItem(scope(stage), id, itemId)) }
      },
    }),
  ]
}

const scope = ({ identity }: Identified) => keptScopeOf(identity, 'openai-responses')

/**
 * The number of days for which the caller's conversations are kept. A caller that has conversations can read
 * and delete them even if it can no longer keep new ones.
 */
function requireKeeping({ identity, group }: Identified): number {
  const days = keptDaysOf(identity, group)
  if (days > 0) return days
  throw gatewayError('conversations_not_kept')
}

function checkedItems(items: readonly Json[]): readonly Json[] {
  for (const [at, each] of items.entries()) {
    const fault = conversationState().items.faultOf(each)
    if (fault === undefined) continue
    const colon = fault.indexOf(': ')
    throw invalid(`items[${at}].${fault.slice(0, colon)}`, `${fault.slice(colon + 2)}.`)
  }
  return items
}

function shown({ id, createdAt, metadata: pairs }: Conversation): z.input<typeof conversation> {
  return {
    id,
    object: 'conversation',
    created_at: Math.floor(createdAt.getTime() / 1000),
    metadata: pairs,
  }
}

function pageOf(items: readonly Json[], hasMore: boolean): z.input<typeof itemPage> {
  return {
    object: 'list',
    data: [...items],
    first_id: textOf(items[0]?.id) ?? null,
    last_id: textOf(items.at(-1)?.id) ?? null,
    has_more: hasMore,
  }
}
