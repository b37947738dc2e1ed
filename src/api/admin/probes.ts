import { randomUUIDv7 } from 'node:crypto'
import { sectionSchema } from 'tollgate-verify/report.ts'
import { z } from 'zod'
import { expected } from '../../canonical/checked.ts'
import { invalid } from '../../canonical/field-error.ts'
import { nanoFromUsd } from '../../canonical/usd.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Database } from '../../db/database.ts'
import type { Queues } from '../../jobs/queue/queue.ts'
import { usd } from '../../money/price.ts'
import { findOffer, findProbedOffer, probedProtocols } from '../../probes/probed-offer.ts'
import { addRuns, listRuns } from '../../probes/queries.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { notFound } from './refusals.ts'

export interface AdminProbesContext {
  catalog: Catalog
  database: Pick<Database, 'reads'>
  bounds: { probeMicroUsdMax: number }
  queues(): Promise<Pick<Queues, 'probes'>>
}

const probeRequest = z
  .strictObject({
    channel: z.string(expected('the name of a channel')).describe('The name of a channel.'),
    model: z
      .string(expected('the name of a model'))
      .describe('A model that the channel offers, by the name that clients use.'),
    protocol: z
      .string()
      .nullish()
      .describe('The protocol to probe. Default: one run for each protocol that the channel speaks.'),
    cost_max_usd: z
      .string(expected('a decimal as a string, such as "0.50"'))
      .refine(
        (text) => (nanoFromUsd(text) ?? 0n) > 0n,
        expected('a decimal above 0 as a string, such as "0.50"'),
      )
      .nullish()
      .describe('The maximum cost of each run in USD. Default: PROBE_MICRO_USD_MAX.'),
  })
  .meta({ id: 'ProbeRequest' })

const probeRun = z
  .object({
    id: z.uuid(),
    channel: z.string(),
    model: z.string(),
    upstream_model: z.string(),
    protocol: z.string(),
    origin: z.enum(['admin', 'schedule']),
    state: z.enum(['queued', 'running', 'ended', 'failed']),
    cost_max_usd: z.string().describe('USD as an exact decimal.'),
    cost_usd: z.string().nullable().describe('The cost of its requests so far. Null if not known.'),
    key_id: z
      .uuid()
      .nullable()
      .describe('The key of its requests in the usage log. Null if the run has not started.'),
    error: z.string().nullable().describe('Why the run failed.'),
    created_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ProbeRun' })

const probeRunDetails = probeRun
  .extend({
    sections: z
      .array(sectionSchema)
      .nullable()
      .describe('The results by check. Null until the run has ended.'),
  })
  .meta({ id: 'ProbeRunDetails' })

const runId = z.uuid(expected('the id of a run'))
const limit = z.coerce.number().int().min(1).max(100).default(20)
const within = {
  withinMs: 5_000,
  unavailable: 'The database is not responding at the moment. Try again shortly.',
}

/** Probes for operators: start one, and read the results of recent ones. */
export function adminProbesEndpoints(context: AdminProbesContext): AdminEndpoint[] {
  const { database } = context
  return [
    newProbeEndpoint(context),
    adminEndpoint({
      method: 'GET',
      area: 'probes',
      path: '/admin/v1/probes',
      summary: 'List probe runs, newest first',
      query: z.object({
        channel: z.string().optional(),
        model: z.string().optional(),
        limit,
        cursor: runId.optional().describe('The `next_cursor` of the previous page.'),
      }),
      answer: z
        .object({
          data: z.array(probeRun),
          next_cursor: z.string().nullable().describe('Null on the last page.'),
        })
        .meta({ id: 'ProbeRunList' }),
      async handle({ query: { channel, model, limit, cursor } }) {
        const found = await database.reads.ask(
          ({ db }) =>
            listRuns(db, {
              ...(channel !== undefined && { channel }),
              ...(model !== undefined && { model }),
              ...(cursor !== undefined && { before: cursor }),
              limit: limit + 1,
            }),
          within,
        )
        const page = found.slice(0, limit)
        const next_cursor = found.length > limit ? (page.at(-1)?.id ?? null) : null
        return { body: { data: page.map(runJson), next_cursor } }
      },
    }),
    adminEndpoint({
      method: 'GET',
      area: 'probes',
      path: '/admin/v1/probes/{id}',
      summary: 'Get a probe run with its results',
      params: z.object({ id: runId }),
      answer: probeRunDetails,
      async handle({ params: { id } }) {
        const [run] = await database.reads.ask(({ db }) => listRuns(db, { id, limit: 1 }), within)
        if (run === undefined) throw notFound(`probe ${id}`)
        const report = z.object({ sections: z.array(sectionSchema) }).safeParse(run.report)
        return { body: { ...runJson(run), sections: report.data?.sections ?? null } }
      },
    }),
  ]
}

function newProbeEndpoint(context: AdminProbesContext): AdminEndpoint {
  const { catalog, bounds } = context
  return adminChange({
    method: 'POST',
    area: 'probes',
    path: '/admin/v1/probes',
    summary: 'Probe what a model can do on a channel',
    description:
      'A worker sends about 40 small requests, one after the other. The verdicts apply from the next request on.',
    body: probeRequest,
    statuses: [201],
    answer: z.object({ data: z.array(probeRun) }).meta({ id: 'ProbeRuns' }),
    async change({ tx, body: { channel: channelName, model, protocol, cost_max_usd }, audit }) {
      const { snapshot } = catalog
      const { channel } = findOffer(snapshot, { channel: channelName, model })
      const protocols = protocol ? [protocol] : probedProtocols(channel)
      const costMax = nanoFromUsd(cost_max_usd ?? '') ?? BigInt(bounds.probeMicroUsdMax) * 1000n
      const createdAt = new Date()
      const rows = protocols.map((name) => {
        const found = findProbedOffer(snapshot, { channel: channelName, model, protocol: name })
        return {
          id: randomUUIDv7(),
          channelId: channel.id,
          model: found.name,
          upstreamModel: found.upstreamModel,
          protocol: found.protocol,
          origin: 'admin' as const,
          state: 'queued' as const,
          costMax,
          createdAt,
        }
      })
      if (rows.length === 0) {
        throw invalid('channel', `"${channelName}" does not speak a protocol that can be probed`)
      }
      await addRuns(tx, rows)
      for (const row of rows)
        await audit({
          action: 'probe.ask',
          resource: 'probe',
          id: row.id,
          name: `${channelName} ${row.model}`,
          after: runJson({ ...row, ...notBegun, channel: channelName }),
        })
      return {
        status: 201,
        body: { data: rows.map((row) => runJson({ ...row, ...notBegun, channel: channelName })) },
      }
    },
    async committed({ data }) {
      // If the queue is down, a sweep adds them later.
      const queues = await context.queues().catch(() => undefined)
      await queues?.probes.add(data.map(({ id }) => ({ id, priority: 50 }))).catch(() => {})
    },
  })
}

const notBegun = { costNano: null, keyId: null, error: null, startedAt: null, endedAt: null }

type Run = Omit<Awaited<ReturnType<typeof listRuns>>[number], 'report' | 'channelId'>

function runJson(run: Run): z.output<typeof probeRun> {
  return {
    id: run.id,
    channel: run.channel,
    model: run.model,
    upstream_model: run.upstreamModel,
    protocol: run.protocol,
    origin: run.origin,
    state: run.state,
    cost_max_usd: usd(run.costMax),
    cost_usd: run.costNano === null ? null : usd(run.costNano),
    key_id: run.keyId,
    error: run.error,
    created_at: run.createdAt.toISOString(),
    started_at: run.startedAt?.toISOString() ?? null,
    ended_at: run.endedAt?.toISOString() ?? null,
  }
}
