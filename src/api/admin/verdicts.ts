import { z } from 'zod'
import { expected } from '../../canonical/checked.ts'
import { traitsInWords } from '../../catalog/trait-entry.ts'
import {
  deleteVerdict,
  findVerdict,
  listVerdicts,
  type VerdictKey,
  type VerdictRow,
} from '../../catalog/verdict-queries.ts'
import type { Database } from '../../db/database.ts'
import { usd } from '../../ledger/price.ts'
import { text, wholeNumber } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { isStorable } from './list.ts'
import { notFound } from './refusals.ts'

export interface AdminVerdictsContext {
  database: Pick<Database, 'reads'>
}

const limitDefault = 100
const limitMax = 1000
const query = z.strictObject({
  channel: text.optional().describe('Only those of this channel.'),
  model: text.optional().describe("Only those of this model, by the upstream's name."),
  limit: wholeNumber(1, limitMax).default(limitDefault),
  cursor: z
    .string()
    .refine((value) => keyIn(value) !== undefined, expected('next_cursor of the page before'))
    .optional()
    .describe('`next_cursor` of the page before.'),
})

const verdict = z
  .object({
    id: z.string().describe('For DELETE.'),
    channel: z.string(),
    model: z.string().describe("The upstream's name of it."),
    protocol: z.string(),
    subject: z.string().describe("A probe's name, or the member of a request that the upstream refused."),
    origin: z.enum(['probe', 'refusal']),
    verdict: z
      .enum(['yes', 'no', 'unknown'])
      .describe('`unknown` of a refusal: it came once, and does not count yet.'),
    in_force: z.boolean().describe('False: it has expired, or nothing follows from it.'),
    traits: z.record(z.string(), z.unknown()).nullable().describe('In the words of gateway.yaml.'),
    evidence: z.string().describe("The upstream's words, without secrets."),
    request_ids: z.array(z.string()).describe('The newest last.'),
    cost_usd: z.string().nullable(),
    decided_at: z.string(),
    expires_at: z.string().nullable().describe('Null: when it is replaced.'),
  })
  .meta({ id: 'Verdict' })

const verdictList = z
  .object({ data: z.array(verdict), next_cursor: z.string().nullable() })
  .meta({ id: 'VerdictList' })

const deletedVerdict = z.object({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedVerdict' })

/**
 * Operators see what probes and refusals have taught the gateway about its offers, and drop what they know
 * better.
 */
export function adminVerdictsEndpoints({ database }: AdminVerdictsContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      area: 'catalog',
      path: '/admin/v1/verdicts',
      summary: 'What probes and refusals of upstreams have proved about the offers',
      query,
      answer: verdictList,
      async handle({ query: { channel, model, limit, cursor } }) {
        const after = cursor === undefined ? undefined : keyIn(cursor)
        const wanted = {
          ...(channel === undefined ? {} : { channel }),
          ...(model === undefined ? {} : { model }),
          ...(after === undefined ? {} : { after }),
          limit: limit + 1,
        }
        const rows = await database.reads.ask(({ db }) => listVerdicts(db, wanted), { withinMs })
        const shown = rows.slice(0, limit)
        const last = rows.length > limit ? shown.at(-1) : undefined
        return {
          body: { data: shown.map(verdictJson), next_cursor: last === undefined ? null : idOf(last) },
        }
      },
    }),
    adminChange({
      method: 'DELETE',
      area: 'catalog',
      path: '/admin/v1/verdicts/{id}',
      summary: 'Drop a verdict: all processes forget it within a second',
      description:
        'A refusal is learnt again when the upstream refuses twice. A trait in gateway.yaml beats both.',
      params: z.object({ id: z.string().max(4096).describe('`id` of the list.') }),
      answer: deletedVerdict,
      async change({ tx, params: { id }, audit }) {
        const key = keyIn(id)
        const row = key === undefined ? undefined : await findVerdict(tx, key)
        // Of two callers at once, one drops it.
        if (key === undefined || row === undefined || !(await deleteVerdict(tx, key)))
          throw notFound('verdict of this id')
        await audit({
          action: 'verdict.delete',
          resource: 'verdict',
          id: id.slice(0, auditedIdCharacters),
          name: `${row.channel} ${row.upstreamModel} ${row.subject}`,
          before: verdictJson(row),
        })
        return { body: { id, deleted: true as const } }
      },
    }),
  ]
}

/** An index has the ids of the audit log, and an entry of an index is bounded. */
const auditedIdCharacters = 1024
const withinMs = 5_000

function verdictJson(row: VerdictRow): z.output<typeof verdict> {
  const { expiresAt, traits, costNano } = row
  return {
    id: idOf(row),
    channel: row.channel,
    model: row.upstreamModel,
    protocol: row.protocol,
    subject: row.subject,
    origin: row.origin,
    verdict: row.verdict,
    in_force: traits !== null && (expiresAt === null || expiresAt.getTime() > Date.now()),
    traits: traits === null ? null : traitsInWords(traits),
    evidence: row.evidence,
    request_ids: row.requestIds,
    cost_usd: costNano === null ? null : usd(costNano),
    decided_at: row.decidedAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
  }
}

function idOf({ channelId, upstreamModel, protocol, subject, origin }: VerdictRow): string {
  const key: VerdictKey = [channelId, upstreamModel, protocol, subject, origin]
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

const keyForm = z.tuple([z.uuid(), z.string(), z.string(), z.string(), z.string()])

/** Undefined: it is not an id of ours. */
function keyIn(id: string): VerdictKey | undefined {
  try {
    const key = keyForm.safeParse(JSON.parse(Buffer.from(id, 'base64url').toString('utf8')))
    return key.success && key.data.every(isStorable) ? key.data : undefined
  } catch {
    return undefined
  }
}
