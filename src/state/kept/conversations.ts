import { setTimeout as sleep } from 'node:timers/promises'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import { isRecord, type Json, parseObject } from '../../canonical/json.ts'
import { plainId } from '../../canonical/plain-id.ts'
import type { PoolQuery } from '../../db/pool.ts'
import { conversationState } from '../../protocols/index.ts'
import type { NewItem } from '../../protocols/protocol-state.ts'
import { redactText } from '../../redaction/redact.ts'
import { Backoff } from '../../runtime/backoff.ts'
import type { KeptBounds, KeptCipher } from './bounds.ts'
import {
  addItems,
  appendTurn,
  type ConversationScope,
  claimConversation,
  deleteConversation,
  deleteItem,
  type ItemRow,
  insertConversation,
  readConversation,
  readItem,
  readPage,
  readSentItems,
  releaseConversation,
  type SealedItem,
  sizeBefore,
  updateConversation,
} from './conversation-queries.ts'
import type { TurnClaimant } from './kept-queries.ts'

export interface Conversation {
  id: string
  createdAt: Date
  metadata: Json
}

/** A request that has claimed a conversation. */
export interface TurnIn {
  tenantId: string
  id: string
  requestId: string
  /** The position of the first item that it adds. */
  before: number
  /** The number of days for which its answer keeps the conversation. */
  days: number
}

/** Items as JSON text without the surrounding brackets, and their number. */
export interface SentItems {
  text: string
  count: number
}

type Bounds = Pick<
  KeptBounds,
  'keptChainBytesMax' | 'conversationItemsMax' | 'conversationsMax' | 'instanceDeadMs'
>

export interface ConversationParts {
  ask<T>(query: PoolQuery<T>): Promise<T>
  cipher: KeptCipher
  bounds: Bounds
}

/**
 * Conversations that clients create. Their items and metadata are encrypted and bound to their tenant and id.
 */
export class Conversations {
  readonly #ask: <T>(query: PoolQuery<T>) => Promise<T>
  readonly #cipher: KeptCipher
  readonly #bounds: Bounds

  constructor(parts: ConversationParts) {
    this.#ask = parts.ask
    this.#cipher = parts.cipher
    this.#bounds = parts.bounds
  }

  async create(
    { tenantId, keyId }: { tenantId: string; keyId: string },
    { metadata, items, days }: { metadata: Json; items: readonly Json[]; days: number },
  ): Promise<Conversation> {
    const { conversations: form, items: itemForm } = conversationState()
    const id = form.newId()
    const sealed = this.#cipher.seal(JSON.stringify(metadata), `${tenantId} ${id}`)
    const added = this.#sealed(tenantId, id, itemForm.added(items))
    const { conversationsMax } = this.#bounds
    const createdAt = await this.#ask(({ sql }) =>
      insertConversation(sql, { tenantId, id, keyId, metadata: sealed, days }, added, conversationsMax),
    )
    if (createdAt !== undefined) return { id, createdAt, metadata }
    throw gatewayError('conversations_full', { most: conversationsMax })
  }

  /** Throws `unknown_path` when this caller has no conversation with this id, like all other methods. */
  async find(scope: ConversationScope, id: string): Promise<Conversation> {
    const row = plainId.test(id) ? await this.#ask(({ sql }) => readConversation(sql, scope, id)) : undefined
    if (row === undefined) throw noConversation(id)
    const metadata: unknown = JSON.parse(this.#cipher.open(row.metadata, `${scope.tenantId} ${id}`))
    return { id, createdAt: row.created_at, metadata: isRecord(metadata) ? metadata : {} }
  }

  async update(
    scope: ConversationScope,
    id: string,
    { metadata, days }: { metadata: Json; days: number },
  ): Promise<Conversation> {
    if (!plainId.test(id)) throw noConversation(id)
    const sealed = this.#cipher.seal(JSON.stringify(metadata), `${scope.tenantId} ${id}`)
    const createdAt = await this.#ask(({ sql }) =>
      updateConversation(sql, scope, id, { metadata: sealed, days }),
    )
    if (createdAt === undefined) throw noConversation(id)
    return { id, createdAt, metadata }
  }

  async delete(scope: ConversationScope, id: string): Promise<void> {
    const isGone = plainId.test(id) && (await this.#ask(({ sql }) => deleteConversation(sql, scope, id)))
    if (!isGone) throw noConversation(id)
  }

  /**
   * Resolves with the items as a client sees them. Rejects with `invalid_request` while a request runs in the
   * conversation, or when it is full.
   */
  async add(
    scope: ConversationScope,
    id: string,
    { items, requestId, days }: { items: readonly Json[]; requestId: string; days: number },
  ): Promise<Json[]> {
    if (!plainId.test(id)) throw noConversation(id)
    const {
      keptChainBytesMax: bytesMax,
      conversationItemsMax: itemsMax,
      instanceDeadMs: deadMs,
    } = this.#bounds
    const added = conversationState().items.added(items)
    const sealed = this.#sealed(scope.tenantId, id, added)
    const terms = { items: sealed, requestId, deadMs, days, itemsMax, bytesMax }
    const verdict = await this.#ask(({ sql }) => addItems(sql, scope, id, terms))
    if (verdict === 'none') throw noConversation(id)
    if (verdict === 'locked') throw gatewayError('conversation_locked', {}, ofConversation())
    if (verdict === 'full') throw this.#full()
    return added.map(({ id, text }) => shownItem(id, text))
  }

  /**
   * `hasMore` is true when there are items after the page. Rejects with `invalid_request` for an unknown
   * `after`.
   */
  async page(
    scope: ConversationScope,
    id: string,
    { after, order, limit }: { after: string | undefined; order: 'asc' | 'desc'; limit: number },
  ): Promise<{ items: Json[]; hasMore: boolean }> {
    await this.find(scope, id)
    const { tenantId } = scope
    const isKnown = after === undefined || plainId.test(after)
    const rows = isKnown
      ? await this.#ask(({ sql }) => readPage(sql, tenantId, id, { after, order, limit: limit + 1 }))
      : undefined
    if (rows === undefined) {
      throw invalid('after', 'there is no such item in the conversation.')
    }
    const items = rows.slice(0, limit).map((row) => shownItem(row.item_id, this.#open(tenantId, id, row)))
    return { items, hasMore: rows.length > limit }
  }

  async item(scope: ConversationScope, id: string, itemId: string): Promise<Json> {
    await this.find(scope, id)
    const { tenantId } = scope
    const row = plainId.test(itemId)
      ? await this.#ask(({ sql }) => readItem(sql, tenantId, id, itemId))
      : undefined
    if (row === undefined) throw gatewayError('conversation_item_not_found')
    return shownItem(itemId, this.#open(tenantId, id, row))
  }

  async deleteItem(scope: ConversationScope, id: string, itemId: string): Promise<Conversation> {
    const found = await this.find(scope, id)
    const isGone =
      plainId.test(itemId) && (await this.#ask(({ sql }) => deleteItem(sql, scope.tenantId, id, itemId)))
    if (!isGone) throw gatewayError('conversation_item_not_found')
    return found
  }

  /**
   * Claims a conversation for one request. Resolves with its items. Rejects with `unknown_path` when this
   * caller has no conversation with this id, and with `invalid_request` when another request has claimed it
   * or it is full. Call `release` after a rejection too.
   */
  async begin(
    scope: ConversationScope,
    id: string,
    { requestId, instanceId, days }: Pick<TurnClaimant, 'requestId' | 'instanceId'> & { days: number },
  ): Promise<{ turn: TurnIn; items: SentItems }> {
    if (!plainId.test(id)) throw noConversation(id)
    const { tenantId } = scope
    const { instanceDeadMs: deadMs, keptChainBytesMax, conversationItemsMax } = this.#bounds
    const claimant = { requestId, instanceId, deadMs, days }
    const claimed = await this.#ask(({ sql }) => claimConversation(sql, scope, id, claimant))
    if (claimed === 'none') throw noConversation(id)
    if (claimed === 'locked') throw gatewayError('conversation_locked', {}, ofConversation())
    if (claimed.items >= conversationItemsMax || claimed.bytes > keptChainBytesMax) throw this.#full()
    const before = claimed.next_position
    const items = await this.#itemsBefore(tenantId, id, before)
    return { turn: { tenantId, id, requestId, before, days }, items }
  }

  /**
   * Ends the claim, so that the next request can begin. Does nothing when the items of this request have been
   * added. Retries while Postgres is down, because nothing else ends the claim of a live process.
   */
  async release(turn: Pick<TurnIn, 'tenantId' | 'id' | 'requestId'>): Promise<void> {
    const { tenantId, id, requestId } = turn
    const pauses = new Backoff(releaseMs)
    for (;;) {
      try {
        await this.#ask(({ sql }) => releaseConversation(sql, tenantId, id, requestId))
        return
      } catch {
        await sleep(pauses.next(), undefined, { ref: false })
      }
    }
  }

  /**
   * Adds a turn and ends its claim; see `appendTurn`. Rejects with `invalid_request` when the request has
   * lost the conversation.
   */
  async append(
    turn: TurnIn,
    items: readonly NewItem[],
    answer: Parameters<typeof appendTurn>[3],
  ): Promise<void> {
    const { tenantId, id } = turn
    const sealed = this.#sealed(tenantId, id, items)
    if (!(await this.#ask(({ sql }) => appendTurn(sql, turn, sealed, answer)))) {
      throw gatewayError('conversation_lost', {}, ofConversation())
    }
  }

  /** Returns everything that a request in this conversation sends again. Rejects like `begin`. */
  async read(scope: ConversationScope, id: string): Promise<SentItems> {
    await this.find(scope, id)
    return (await this.itemsBefore(scope.tenantId, id, undefined)) ?? { text: '', count: 0 }
  }

  /**
   * Returns the items before a position, or all items; undefined when the conversation does not exist.
   * Rejects with `invalid_request` when there are too many.
   */
  async itemsBefore(
    tenantId: string,
    id: string,
    before: number | undefined,
  ): Promise<SentItems | undefined> {
    const size = await this.#ask(({ sql }) => sizeBefore(sql, tenantId, id, before))
    if (size === undefined) return undefined
    if (size.bytes > this.#bounds.keptChainBytesMax) throw this.#full()
    return await this.#itemsBefore(tenantId, id, before ?? size.next)
  }

  async #itemsBefore(tenantId: string, id: string, before: number): Promise<SentItems> {
    const rows = await this.#ask(({ sql }) => readSentItems(sql, tenantId, id, before))
    return { text: rows.map((row) => this.#open(tenantId, id, row)).join(','), count: rows.length }
  }

  #sealed(tenantId: string, id: string, items: readonly NewItem[]): SealedItem[] {
    return items.map(({ id: itemId, text, isSent }) => ({
      id: itemId,
      isSent,
      content: this.#cipher.seal(text, `${tenantId} ${id} ${itemId}`),
    }))
  }

  #open(tenantId: string, id: string, { item_id: itemId, content }: ItemRow): string {
    return this.#cipher.open(content, `${tenantId} ${id} ${itemId}`)
  }

  #full(): GatewayError {
    const { conversationItemsMax, keptChainBytesMax } = this.#bounds
    const facts = { itemsMax: conversationItemsMax, bytesMax: keptChainBytesMax }
    return gatewayError('conversation_too_long', facts, ofConversation())
  }
}

/** The member that errors name. */
function ofConversation() {
  return { field: conversationState().conversations.member }
}

function shownItem(id: string, text: string): Json {
  return conversationState().items.shown(id, parseObject(text) ?? {})
}

const releaseMs = { least: 1_000, most: 30_000 }

function noConversation(id: string): GatewayError {
  return gatewayError('conversation_not_found', { id: redactText(id, [], 256) }, ofConversation())
}
