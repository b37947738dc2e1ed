import type { Traits } from '../canonical/traits.ts'
import type { TypedQueries } from '../db/connections.ts'
import { and, asc, eq, sql } from '../db/drizzle.cjs'
import { channels, verdicts } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** Identifies a verdict: one subject of one offer in one protocol. */
export interface VerdictSubject {
  channelId: string
  /** The upstream's name for the model. */
  upstreamModel: string
  protocol: ProtocolName
  /** What was tried: the name of a probe, or the request member that the upstream refused. */
  subject: string
}

/** An upstream's refusal of a request member. */
export interface RefusalEvidence extends VerdictSubject {
  /** The traits that apply once the refusal is proved. */
  traits: Traits
  /** The upstream's message, without secrets. */
  evidence: string
  requestId: string
}

/** The result of a probe. */
export interface ProbeVerdict extends VerdictSubject {
  verdict: 'yes' | 'no' | 'unknown'
  /** The resulting traits; undefined if there are none. */
  traits: Traits | undefined
  /** The upstream's message, without secrets. */
  evidence: string
  /** The ids of the probe's requests, newest last. */
  requestIds: readonly string[]
  /** Undefined if not known. */
  costNano: bigint | undefined
  decidedAt: Date
  /** Undefined: the verdict stays until it is replaced. */
  expiresAt: Date | undefined
}

/**
 * The number of refusals of different requests that prove a trait. A single one may be a mistake or caused by
 * the request itself.
 */
const refusalsNeeded = 2
/** A refusal only counts for a day, because vendors change what their models accept. */
const refusalSeconds = 24 * 60 * 60
export const evidenceCharactersMax = 500
const requestIdsMax = 8
/** How long after their expiry other offers' refusals are deleted. */
const refusalKeptSeconds = 7 * 24 * 60 * 60

/**
 * Counts a refusal. The trait is proved, and applies for a day, when two different requests have been refused
 * within a day. Returns whether it is now proved. A single statement, so that simultaneous refusals in
 * several processes all count. Triggers increase the revision of the catalog, so all processes read the
 * verdict within a second.
 */
export async function rememberRefusal(db: TypedQueries, refusal: RefusalEvidence): Promise<boolean> {
  const { channelId, upstreamModel, protocol, subject, requestId } = refusal
  const traits = sql`${JSON.stringify(refusal.traits)}::jsonb`
  const evidence = cut(refusal.evidence)
  const rows = await db.execute<{ verdict: string }>(sql`
    WITH old AS (
      DELETE FROM verdicts AS other
      WHERE other.origin = 'refusal'
        AND other.expires_at < now() - make_interval(secs => ${refusalKeptSeconds})
        AND (other.channel_id, other.upstream_model, other.protocol, other.subject)
          <> (${channelId}::uuid, ${upstreamModel}, ${protocol}, ${subject})
    )
    INSERT INTO verdicts AS known (channel_id, upstream_model, protocol, subject, origin, verdict, traits, evidence,
      request_ids, decided_at, expires_at)
    VALUES (${channelId}::uuid, ${upstreamModel}, ${protocol}, ${subject}, 'refusal', 'unknown', NULL, ${evidence},
      ARRAY[${requestId}::uuid], now(), now() + make_interval(secs => ${refusalSeconds}))
    ON CONFLICT (channel_id, upstream_model, protocol, subject, origin) DO UPDATE SET
      request_ids = CASE
        WHEN known.expires_at <= now() THEN excluded.request_ids
        WHEN ${requestId}::uuid = ANY (known.request_ids) THEN known.request_ids
        ELSE (known.request_ids || excluded.request_ids)[greatest(1, cardinality(known.request_ids) + 2 - ${requestIdsMax}):]
      END,
      verdict = CASE
        WHEN known.expires_at <= now() THEN 'unknown'
        WHEN known.verdict = 'no' THEN 'no'
        WHEN ${requestId}::uuid <> ALL (known.request_ids) AND cardinality(known.request_ids) + 1 >= ${refusalsNeeded} THEN 'no'
        ELSE 'unknown'
      END,
      traits = CASE
        WHEN known.expires_at <= now() THEN NULL
        WHEN known.verdict = 'no' THEN ${traits}
        WHEN ${requestId}::uuid <> ALL (known.request_ids) AND cardinality(known.request_ids) + 1 >= ${refusalsNeeded} THEN ${traits}
        ELSE NULL
      END,
      evidence = excluded.evidence,
      decided_at = excluded.decided_at,
      expires_at = excluded.expires_at
    RETURNING known.verdict`)
  return rows[0]?.verdict === 'no'
}

/**
 * Writes the results of probes over earlier verdicts. An older result does not replace a newer one, and an
 * inconclusive result does not replace a conclusive one. A single statement, because each statement increases
 * the revision of the catalog and makes all processes read it.
 */
export async function putProbeVerdicts(db: TypedQueries, found: readonly ProbeVerdict[]): Promise<void> {
  if (found.length === 0) return
  const { channelId, upstreamModel, protocol, subject, origin } = verdicts
  await db
    .insert(verdicts)
    .values(
      found.map((one) => ({
        channelId: one.channelId,
        upstreamModel: one.upstreamModel,
        protocol: one.protocol,
        subject: one.subject,
        origin: 'probe' as const,
        verdict: one.verdict,
        traits: one.traits ?? null,
        evidence: cut(one.evidence),
        requestIds: one.requestIds.slice(-requestIdsMax),
        costNano: one.costNano ?? null,
        decidedAt: one.decidedAt,
        expiresAt: one.expiresAt ?? null,
      })),
    )
    .onConflictDoUpdate({
      target: [channelId, upstreamModel, protocol, subject, origin],
      set: {
        verdict: sql`excluded.verdict`,
        traits: sql`excluded.traits`,
        evidence: sql`excluded.evidence`,
        requestIds: sql`excluded.request_ids`,
        costNano: sql`excluded.cost_nano`,
        decidedAt: sql`excluded.decided_at`,
        expiresAt: sql`excluded.expires_at`,
      },
      setWhere: sql`${verdicts.decidedAt} <= excluded.decided_at
        AND (excluded.verdict <> 'unknown' OR ${verdicts.verdict} = 'unknown')`,
    })
}

/** The primary key of a verdict. */
export type VerdictKey = readonly [
  channelId: string,
  upstreamModel: string,
  protocol: string,
  subject: string,
  origin: string,
]

export type VerdictRow = Awaited<ReturnType<typeof listVerdicts>>[number]

/** Lists verdicts in key order, including expired ones, starting after the key `after`. */
export function listVerdicts(
  db: Queries,
  { channel, model, after, limit }: { channel?: string; model?: string; after?: VerdictKey; limit: number },
) {
  const { channelId, upstreamModel, protocol, subject, origin } = verdicts
  return shownVerdicts(db)
    .where(
      and(
        channel === undefined ? undefined : eq(channels.name, channel),
        model === undefined ? undefined : eq(upstreamModel, model),
        after === undefined
          ? undefined
          : sql`(${channelId}, ${upstreamModel}, ${protocol}, ${subject}, ${origin}) > (${after[0]}::uuid, ${after[1]}, ${after[2]}, ${after[3]}, ${after[4]})`,
      ),
    )
    .orderBy(channelId, upstreamModel, protocol, subject, origin)
    .limit(limit)
}

function shownVerdicts(db: Queries) {
  const { channelId, upstreamModel, protocol, subject, origin } = verdicts
  return db
    .select({
      channelId,
      channel: channels.name,
      upstreamModel,
      protocol,
      subject,
      origin,
      verdict: verdicts.verdict,
      traits: verdicts.traits,
      evidence: verdicts.evidence,
      requestIds: verdicts.requestIds,
      costNano: verdicts.costNano,
      decidedAt: verdicts.decidedAt,
      expiresAt: verdicts.expiresAt,
    })
    .from(verdicts)
    .innerJoin(channels, eq(channels.id, channelId))
    .$dynamic()
}

export async function findVerdict(db: Queries, key: VerdictKey): Promise<VerdictRow | undefined> {
  const [row] = await shownVerdicts(db).where(isVerdict(key))
  return row
}

/** Returns false if there is no such verdict. */
export async function deleteVerdict(db: Queries, key: VerdictKey): Promise<boolean> {
  const deleted = await db.delete(verdicts).where(isVerdict(key)).returning({ subject: verdicts.subject })
  return deleted.length > 0
}

function isVerdict([channelId, upstreamModel, protocol, subject, origin]: VerdictKey) {
  return sql`(${verdicts.channelId}, ${verdicts.upstreamModel}, ${verdicts.protocol}, ${verdicts.subject}, ${verdicts.origin}) = (${channelId}::uuid, ${upstreamModel}, ${protocol}, ${subject}, ${origin})`
}

function cut(text: string): string {
  return text.length <= evidenceCharactersMax ? text : `${text.slice(0, evidenceCharactersMax - 1)}…`
}

/** Reads all verdicts in chronological order: of two contradictory ones the later applies. */
export function readVerdicts(db: TypedQueries) {
  return db.select().from(verdicts).orderBy(asc(verdicts.decidedAt))
}
