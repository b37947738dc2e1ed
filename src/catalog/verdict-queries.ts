import type { Traits } from '../canonical/traits.ts'
import type { TypedQueries } from '../db/connections.ts'
import { and, asc, eq, sql } from '../db/drizzle.cjs'
import { channels, verdicts } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** What a verdict is about: one subject of one offer, in one protocol. */
export interface VerdictSubject {
  channelId: string
  /** The upstream's name of the model. */
  upstreamModel: string
  protocol: ProtocolName
  /** What was tried: a probe's name, or the member of a request that the upstream refused. */
  subject: string
}

/** An upstream's refusal of one member of a request. */
export interface RefusalEvidence extends VerdictSubject {
  /** What follows when it is proved. */
  traits: Traits
  /** The upstream's words, without secrets. */
  evidence: string
  requestId: string
}

/** What a probe has found. */
export interface ProbeVerdict extends VerdictSubject {
  verdict: 'yes' | 'no' | 'unknown'
  /** What follows from it; undefined: nothing. */
  traits: Traits | undefined
  /** The upstream's words, without secrets. */
  evidence: string
  /** The requests of the probe, the newest last. */
  requestIds: readonly string[]
  /** Undefined: not known. */
  costNano: bigint | undefined
  decidedAt: Date
  /** Undefined: until it is replaced. */
  expiresAt: Date | undefined
}

/**
 * How many refusals of different requests prove a trait. One may be a mistake, or that request's fault.
 */
const refusalsNeeded = 2
/** A refusal counts for a day: vendors change what their models take. */
const refusalSeconds = 24 * 60 * 60
export const evidenceCharactersMax = 500
const requestIdsMax = 8
/** How long after expiry we delete other offers' refusals. */
const refusalKeptSeconds = 7 * 24 * 60 * 60

/**
 * Count a refusal. The trait is proved, and in force for a day, when two refusals of different requests came
 * within a day. Returns whether it is proved now. One statement, so that refusals of several processes at
 * once all count. Triggers raise the revision of the catalog: all processes read the verdict within a second.
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
 * Write what a probe has found, in place of its earlier verdicts. An older result does not replace a newer
 * one, and one that found nothing out replaces none that did. One statement, because each raises the revision
 * of the catalog, which all processes then read.
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

/** Verdicts in the order of their keys, expired ones too. `after`: those after this key. */
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

/** False: there is no such verdict. */
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

/** All verdicts, in the order in which they count: of two that say different things, the later one wins. */
export function readVerdicts(db: TypedQueries) {
  return db.select().from(verdicts).orderBy(asc(verdicts.decidedAt))
}
