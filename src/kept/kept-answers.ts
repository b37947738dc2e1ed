import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Identity } from '../access/identity.ts'
import { endUserHash } from '../canonical/end-user-hash.ts'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import type { Group } from '../catalog/snapshot.ts'
import type { Database } from '../db/database.ts'
import type { Question } from '../db/pool.ts'
import {
  addKeptAnswer,
  type Claimant,
  type ClaimVerdict,
  claimAnswer,
  deleteKeptAnswer,
  endClaim,
  type KeptProtocol,
  type KeptScope,
  keptBytesOf,
  readChain,
  readKeptAnswer,
} from './kept-queries.ts'

/** One turn: what its request added to the conversation, and its answer. */
export interface KeptTurn {
  /** The items, as JSON text without the brackets around them. */
  input: string
  output: string
  /** The answer as its client got it. */
  answer: Json
  /** Members of its request that hold for all of the conversation, as JSON text of an object. */
  head?: string | undefined
}

export interface KeptBounds {
  keptAnswerBytesMax: number
  keptChainBytesMax: number
  keptTenantBytesMax: number
  admitMs: number
}

export interface KeptCipher {
  seal(plain: string, owner: string): Buffer
  /** Throws for another key, another owner, and changed bytes. */
  open(sealed: Buffer, owner: string): string
}

const turn = z.object({
  input: z.string(),
  output: z.string(),
  answer: z.record(z.string(), z.unknown()),
  head: z.string().optional(),
})

/** Links of one chain. Each is a turn of a conversation. */
const linksMax = 10_000
/** The bytes that a tenant keeps are asked for again after this time: other processes add to them too. */
const usedMs = 30_000

/** All ids of answers have only these characters. Postgres refuses NUL. */
export const plainId = /^[\x21-\x7e]{1,256}$/

/** Days for which answers of this key are kept; 0: none is kept. */
export function keptDaysOf({ keptDays }: Pick<Identity, 'keptDays'>, group: Pick<Group, 'keptDays'>): number {
  return keptDays ?? group.keptDays
}

export function scopeOf({ tenantId, keyId, usageScope }: Identity, protocol: KeptProtocol): KeptScope {
  return { tenantId, protocol, keyId: usageScope === 'key' ? keyId : undefined }
}

/** The items of a kept text. */
export function itemsOf(text: string): Json[] {
  const list: unknown = JSON.parse(`[${text}]`)
  return Array.isArray(list) ? list.filter(isRecord) : []
}

/** Answers that clients had kept. All of a turn is encrypted, for its tenant and its id. */
export class KeptAnswers {
  readonly #answers: Database['answers']
  readonly #cipher: KeptCipher
  readonly #bounds: KeptBounds
  /** Bytes of tenants, as far as this process knows. */
  readonly #used = new LRUCache<string, { bytes: number }>({ max: 10_000, ttl: usedMs })

  constructor(parts: { answers: Database['answers']; cipher: KeptCipher; bounds: KeptBounds }) {
    this.#answers = parts.answers
    this.#cipher = parts.cipher
    this.#bounds = parts.bounds
  }

  /** Throws `invalid_request` where the tenant keeps as much as it may, and `unavailable` while Postgres is away. */
  async requireRoom(tenantId: string): Promise<void> {
    const { keptTenantBytesMax } = this.#bounds
    let used = this.#used.get(tenantId)
    if (used === undefined) {
      used = { bytes: await this.#ask(({ sql }) => keptBytesOf(sql, tenantId)) }
      this.#used.set(tenantId, used)
    }
    if (used.bytes < keptTenantBytesMax) return
    throw new GatewayError(
      'invalid_request',
      `store: this tenant keeps ${keptTenantBytesMax} bytes of answers, as many as it may. Delete some with DELETE /v1/responses/{id}, or send "store": false.`,
      { field: 'store', code: 'kept_answers_full' },
    )
  }

  /** Resolves when Postgres has it. Rejects `unavailable`, and `upstream_error` for one that is too large. */
  async add(
    { tenantId, keyId, protocol, id, previousId, model, days, claimedFor, endUser }: NewAnswer,
    turn: KeptTurn,
  ): Promise<void> {
    const text = JSON.stringify(turn)
    const { keptAnswerBytesMax } = this.#bounds
    const content = this.#cipher.seal(text, ownerOf(tenantId, id))
    if (content.length > keptAnswerBytesMax) {
      throw new GatewayError(
        'upstream_error',
        `This answer and what its request added take ${content.length} bytes, and at most ${keptAnswerBytesMax} are kept. Send "store": false to have it without being kept.`,
        { fault: 'client', code: 'kept_answer_too_large' },
      )
    }
    const hash = endUser === null ? null : endUserHash(endUser)
    const heads = { tenantId, id, keyId, protocol, previousId: previousId ?? null, model }
    const row = { ...heads, endUserHash: hash, bytes: content.length, content }
    await this.#ask(({ sql }) => addKeptAnswer(sql, row, { days, claimedFor }))
    const used = this.#used.get(tenantId)
    if (used !== undefined) used.bytes += content.length
  }

  /** Undefined: this caller has none of this id. Rejects `unavailable`. */
  async read(scope: KeptScope, id: string): Promise<(KeptTurn & { previousId: string | null }) | undefined> {
    if (!plainId.test(id)) return undefined
    const row = await this.#ask(({ db }) => readKeptAnswer(db, scope, id))
    if (row === undefined) return undefined
    return { ...this.#open(scope.tenantId, id, row.content), previousId: row.previousId }
  }

  /** Whether there was one. Rejects `unavailable`. */
  async delete(scope: KeptScope, id: string): Promise<boolean> {
    if (!plainId.test(id)) return false
    this.#used.delete(scope.tenantId)
    return await this.#ask(({ db }) => deleteKeptAnswer(db, scope, id))
  }

  /**
   * The turns that a request which continues this answer repeats, the oldest first. Undefined: this caller has none of this id. `missing`:
   * a turn before them was deleted. Rejects `invalid_request` for more than a request may repeat, and `unavailable`.
   */
  async chain(scope: KeptScope, id: string): Promise<KeptTurn[] | 'missing' | undefined> {
    if (!plainId.test(id)) return undefined
    const { keptChainBytesMax } = this.#bounds
    const bounds = { bytesMax: keptChainBytesMax, linksMax }
    const links = await this.#ask(({ sql }) => readChain(sql, scope, id, bounds))
    const [oldest] = links
    if (oldest === undefined) return undefined
    if (oldest.total > keptChainBytesMax || links.length === linksMax) {
      throw new GatewayError(
        'invalid_request',
        `previous_response_id: the conversation before it takes more than the ${keptChainBytesMax} bytes that are sent again here. Begin a new one with what it needs in "input".`,
        { field: 'previous_response_id', code: 'context_length_exceeded' },
      )
    }
    if (oldest.previous_id !== null) return 'missing'
    return links.map((link) => this.#open(scope.tenantId, link.id, link.content))
  }

  /** As `claimAnswer`. Rejects `unavailable`. */
  async claim(scope: KeptScope, id: string, claimant: Claimant): Promise<ClaimVerdict> {
    if (!plainId.test(id)) return 'none'
    return await this.#ask(({ sql }) => claimAnswer(sql, scope, id, claimant))
  }

  /** As `endClaim`. Rejects `unavailable`. */
  async endClaim(tenantId: string, claim: Parameters<typeof endClaim>[2]): Promise<void> {
    await this.#ask(({ sql }) => endClaim(sql, tenantId, claim))
  }

  #open(tenantId: string, id: string, content: Buffer): KeptTurn {
    return turn.parse(JSON.parse(this.#cipher.open(content, ownerOf(tenantId, id))))
  }

  #ask<T>(question: Question<T>): Promise<T> {
    return this.#answers.ask(question, {
      withinMs: this.#bounds.admitMs,
      unavailable:
        'The database does not answer, so kept answers cannot be read or written just now. Try again, or send "store": false.',
    })
  }
}

export interface NewAnswer {
  tenantId: string
  keyId: string
  protocol: KeptProtocol
  id: string
  previousId: string | undefined
  model: string
  /** That its request named, as the usage log has the name. */
  endUser: string | null
  days: number
  /** The request that has the claim on the previous answer. */
  claimedFor: string | undefined
}

function ownerOf(tenantId: string, id: string): string {
  return `${tenantId} ${id}`
}
