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
import { usd } from '../../money/price.ts'
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
  channel: text.optional().describe('Only verdicts about this channel.'),
  model: text.optional().describe("Only verdicts about this model, by the upstream's name."),
  limit: wholeNumber(1, limitMax).default(limitDefault),
  cursor: z
    .string()
    .refine((value) => keyIn(value) !== undefined, expected('the next_cursor of the previous page'))
    .optional()
    .describe('The `next_cursor` of the previous page.'),
})

const verdict = z
  .object({
    id: z.string().describe('The id of the verdict, for use with DELETE.'),
    channel: z.string(),
    model: z.string().describe("The upstream's name for the model."),
    protocol: z.string(),
    subject: z.string().describe('The name of a probe, or the request member that the upstream refused.'),
    origin: z.enum(['probe', 'refusal']),
    verdict: z
      .enum(['yes', 'no', 'unknown'])
      .describe('`unknown` for a refusal means that it occurred only once and does not count yet.'),
    in_force: z.boolean().describe('False if the verdict has expired or has no effect.'),
    traits: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The resulting traits, in the format of gateway.yaml.'),
    evidence: z.string().describe("The upstream's message, without secrets."),
    request_ids: z.array(z.string()).describe('The ids of the requests, newest last.'),
    cost_usd: z.string().nullable(),
    decided_at: z.string(),
    expires_at: z.string().nullable().describe('Null if the verdict stays until it is replaced.'),
  })
  .meta({ id: 'Verdict' })

const verdictList = z
  .object({ data: z.array(verdict), next_cursor: z.string().nullable() })
  .meta({ id: 'VerdictList' })

const deletedVerdict = z.object({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedVerdict' })

/**
 * Endpoints with which operators see what the gateway has learnt about its offers from probes and refusals,
 * and delete verdicts that are wrong.
 */
export function adminVerdictsEndpoints({ database }: AdminVerdictsContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      area: 'catalog',
      path: '/admin/v1/verdicts',
      summary: 'List what probes and refusals of upstreams have proved about the offers',
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
      summary: 'Delete a verdict (takes effect in all processes within a second)',
      description:
        'A refusal is learnt again after the upstream has refused twice. Traits in gateway.yaml take precedence over verdicts.',
      params: z.object({ id: z.string().max(4096).describe('The `id` from the list.') }),
      answer: deletedVerdict,
      async change({ tx, params: { id }, audit }) {
        const key = keyIn(id)
        const row = key === undefined ? undefined : await findVerdict(tx, key)
        // Of two concurrent callers, only one deletes the verdict.
        if (key === undefined || row === undefined || !(await deleteVerdict(tx, key)))
          throw notFound('verdict with this id')
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

/** The audit log has an index on this id, and index entries have a maximum length. */
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

/** Returns undefined if this is not an id that we issued. */
function keyIn(id: string): VerdictKey | undefined {
  try {
    const key = keyForm.safeParse(JSON.parse(Buffer.from(id, 'base64url').toString('utf8')))
    return key.success && key.data.every(isStorable) ? key.data : undefined
  } catch {
    return undefined
  }
}
