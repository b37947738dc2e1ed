import { z } from 'zod'
import type { Identity } from '../../access/identity.ts'
import { endUserHash } from '../../canonical/end-user-hash.ts'
import { gatewayError } from '../../canonical/error.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import { plainId } from '../../canonical/plain-id.ts'
import { storageFull } from '../../canonical/storage-full.ts'
import type { Group } from '../../catalog/snapshot.ts'
import type { Database } from '../../db/database.ts'
import type { PoolQuery } from '../../db/pool.ts'
import { conversationState, stateOf } from '../../protocols/index.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import type { ProtocolState } from '../../protocols/protocol-state.ts'
import type { KeptBounds, KeptCipher } from './bounds.ts'
import { Conversations, type TurnIn } from './conversations.ts'
import {
  addKeptAnswer,
  type ClaimVerdict,
  claimAnswer,
  deleteKeptAnswer,
  endClaim,
  type KeptScope,
  type NewKeptRow,
  readChain,
  readKeptAnswer,
  storedBytesOf,
  type TurnClaimant,
} from './kept-queries.ts'

/** One turn: the items that its request added to the conversation, and its answer. */
export interface KeptTurn {
  /** The items, as JSON text without the surrounding brackets. */
  input: string
  output: string
  /** The answer as its client received it. */
  answer: Json
  /** Members of its request that apply to the whole conversation, as the JSON text of an object. */
  head?: string | undefined
  /**
   * The conversation that its request ran in, and the position of the first item of the turn there. Items
   * before that position precede the turn.
   */
  conversation?: { id: string; before: number } | undefined
}

const turn = z.object({
  input: z.string(),
  output: z.string(),
  answer: z.record(z.string(), z.unknown()),
  head: z.string().optional(),
  conversation: z.object({ id: z.string(), before: z.number() }).optional(),
})

/** The most links of one chain. Each link is a turn of a conversation. */
const linksMax = 10_000

/** The number of days for which answers of this key are kept; 0 means that none is kept. */
export function keptDaysOf({ keptDays }: Pick<Identity, 'keptDays'>, group: Pick<Group, 'keptDays'>): number {
  return keptDays ?? group.keptDays
}

/** For refusals of requests that depend on answers kept by the gateway. */
export const keepingAdvice = 'Ask the operator to set responses: { store: true } on the key or its group.'

export function keptScopeOf({ tenantId, keyId, usageScope }: Identity, protocol: ProtocolName): KeptScope {
  return { tenantId, protocol, keyId: usageScope === 'key' ? keyId : undefined }
}

/** Returns the items of a stored text. */
export function itemsOf(text: string): Json[] {
  const list: unknown = JSON.parse(`[${text}]`)
  return Array.isArray(list) ? list.filter(isRecord) : []
}

/** Answers that are kept at the request of clients. Each turn is encrypted and bound to its tenant and id. */
export class KeptAnswers {
  readonly conversations: Conversations
  readonly #answers: Database['answers']
  readonly #cipher: KeptCipher
  readonly #bounds: KeptBounds

  constructor(parts: { answers: Database['answers']; cipher: KeptCipher; bounds: KeptBounds }) {
    this.#answers = parts.answers
    this.#cipher = parts.cipher
    this.#bounds = parts.bounds
    const { cipher, bounds } = parts
    this.conversations = new Conversations({
      cipher,
      bounds,
      ask: (query) => this.#ask(query, conversationState()),
    })
  }

  /**
   * Throws `rate_limited` when the tenant's storage has no room for the bytes, and `unavailable` while
   * Postgres is down. The code that stores the bytes checks again, because concurrent requests may use up the
   * room, but a refusal at this point costs nothing. `field` is the member by which the client requests
   * storage; it defaults to the format's `storeMember`.
   */
  async requireRoom(
    { tenantId, protocol }: Omit<KeptScope, 'keyId'>,
    bytes: number,
    field?: string,
  ): Promise<void> {
    const state = stateOf(protocol)
    const { keptTenantBytesMax } = this.#bounds
    const stored = await this.#ask(({ sql }) => storedBytesOf(sql, tenantId), state)
    if (stored + bytes > keptTenantBytesMax) throw storageFull(keptTenantBytesMax, field ?? state.storeMember)
  }

  /**
   * Resolves when Postgres has stored the answer. Rejects with `unavailable`, and with `upstream_error` when
   * it is too large.
   */
  async add(answer: NewAnswer, turn: KeptTurn): Promise<void> {
    const row = this.rowOf(answer, turn)
    const { days, claimedFor, protocol } = answer
    const state = stateOf(protocol)
    const isOnce = state.continuedOnce !== undefined
    await this.#ask(({ sql }) => addKeptAnswer(sql, row, { days, claimedFor, isOnce }), state)
  }

  /**
   * Adds a turn to its conversation and, if `answer` is given, keeps its answer; either both or neither
   * happens. Rejects like `add`, and with `invalid_request` when the conversation was deleted in the
   * meantime.
   */
  async addTo(running: TurnIn, turn: KeptTurn, answer: NewAnswer | undefined): Promise<void> {
    const { id, before } = running
    const kept =
      answer === undefined
        ? undefined
        : { row: this.rowOf(answer, { ...turn, conversation: { id, before } }), days: answer.days }
    const { items } = conversationState()
    const added = [...items.added(itemsOf(turn.input)), ...items.answered(itemsOf(turn.output))]
    this.#requireSmall(turn.input.length + turn.output.length)
    await this.conversations.append(running, added, kept)
  }

  /** Builds the row of an answer. Throws `upstream_error` when it is too large. */
  rowOf(
    { tenantId, keyId, protocol, id, previousId, model, endUser }: NewAnswer,
    turn: KeptTurn,
  ): NewKeptRow {
    const content = this.#cipher.seal(JSON.stringify(turn), ownerOf(tenantId, id))
    this.#requireSmall(content.length)
    const heads = { tenantId, id, keyId, protocol, previousId: previousId ?? null, model }
    const hash = endUser === null ? null : endUserHash(endUser)
    return { ...heads, endUserHash: hash, bytes: content.length, content }
  }

  #requireSmall(bytes: number): void {
    const { keptAnswerBytesMax } = this.#bounds
    if (bytes <= keptAnswerBytesMax) return
    throw gatewayError('kept_answer_too_large', { bytes, bytesMax: keptAnswerBytesMax })
  }

  /** Returns undefined when this caller has no answer with this id. Rejects with `unavailable`. */
  async read(scope: KeptScope, id: string): Promise<(KeptTurn & { previousId: string | null }) | undefined> {
    if (!plainId.test(id)) return undefined
    const row = await this.#ask(({ db }) => readKeptAnswer(db, scope, id), stateOf(scope.protocol))
    if (row === undefined) return undefined
    return { ...this.#open(scope.tenantId, id, row.content), previousId: row.previousId }
  }

  /** Returns whether the answer existed. Rejects with `unavailable`. */
  async delete(scope: KeptScope, id: string): Promise<boolean> {
    if (!plainId.test(id)) return false
    return await this.#ask(({ db }) => deleteKeptAnswer(db, scope, id), stateOf(scope.protocol))
  }

  /**
   * Returns the turns that a request repeats when it continues this answer, oldest first; undefined when this
   * caller has no answer with this id; `missing` when a turn before them was deleted. Rejects with
   * `invalid_request` when there are more than a request may repeat, and with `unavailable`.
   */
  async chain(scope: KeptScope, id: string): Promise<KeptTurn[] | 'missing' | undefined> {
    if (!plainId.test(id)) return undefined
    const { keptChainBytesMax } = this.#bounds
    const bounds = { bytesMax: keptChainBytesMax, linksMax }
    const state = stateOf(scope.protocol)
    const links = await this.#ask(({ sql }) => readChain(sql, scope, id, bounds), state)
    const [oldest] = links
    if (oldest === undefined) return undefined
    const { refusals } = state
    if (oldest.total > keptChainBytesMax || links.length === linksMax)
      throw refusals.tooLong(keptChainBytesMax)
    if (oldest.previous_id !== null) return 'missing'
    const turns = links.map((link) => this.#open(scope.tenantId, link.id, link.content))
    const within = turns[0]?.conversation
    if (within === undefined) return turns
    const before = await this.conversations.itemsBefore(scope.tenantId, within.id, within.before)
    if (before === undefined) return 'missing'
    if (oldest.total + Buffer.byteLength(before.text) > keptChainBytesMax)
      throw refusals.tooLong(keptChainBytesMax)
    return [{ input: before.text, output: '', answer: {} }, ...turns]
  }

  /** See `claimAnswer`. Rejects with `unavailable`. */
  async claim(scope: KeptScope, id: string, claimant: TurnClaimant): Promise<ClaimVerdict> {
    if (!plainId.test(id)) return 'none'
    return await this.#ask(({ sql }) => claimAnswer(sql, scope, id, claimant), stateOf(scope.protocol))
  }

  /** See `endClaim`. Rejects with `unavailable`. */
  async endClaim(
    { tenantId, protocol }: Omit<KeptScope, 'keyId'>,
    claim: Parameters<typeof endClaim>[2],
  ): Promise<void> {
    await this.#ask(({ sql }) => endClaim(sql, tenantId, claim), stateOf(protocol))
  }

  #open(tenantId: string, id: string, content: Buffer): KeptTurn {
    return turn.parse(JSON.parse(this.#cipher.open(content, ownerOf(tenantId, id))))
  }

  #ask<T>(query: PoolQuery<T>, { unstored }: Pick<ProtocolState, 'unstored'>): Promise<T> {
    return this.#answers.ask(query, {
      withinMs: this.#bounds.admitMs,
      unavailable: `The database is not responding, so kept answers cannot be read or written at the moment. Try again, or ${unstored}.`,
    })
  }
}

export interface NewAnswer {
  tenantId: string
  keyId: string
  protocol: ProtocolName
  id: string
  previousId: string | undefined
  model: string
  /** The end user that its request named, as it appears in the usage log. */
  endUser: string | null
  days: number
  /** The id of the request that has claimed the previous answer. */
  claimedFor: string | undefined
}

function ownerOf(tenantId: string, id: string): string {
  return `${tenantId} ${id}`
}
