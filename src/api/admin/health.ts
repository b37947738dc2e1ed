import { z } from 'zod'
import type { Catalog } from '../../catalog/catalog.ts'
import { storedChannel } from '../../catalog/change-entries.ts'
import { type AllRows, readAllRows } from '../../catalog/queries.ts'
import type { Database } from '../../db/database.ts'
import { readSchemaVersion } from '../../db/schema-version.ts'
import { inTime } from '../../in-time.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { LedgerWatch } from '../../ledger/ledger-watch.ts'
import type { Queues } from '../../queue/queue.ts'
import type { Routing } from '../../routing/routing.ts'
import { channelJson } from './channel-json.ts'
import { type AdminChannelsContext, channelPath, foundChannel } from './channels.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { problem, problemsOf } from './health-problems.ts'
import {
  countWaiting,
  readInstances,
  readOpenBreakers,
  readRecentCalls,
  readRevisions,
  recentMinutes,
  resetBreaker,
} from './health-queries.ts'

export interface AdminHealthContext extends AdminChannelsContext {
  database: Database
  catalog: Catalog
  ledger: Ledger
  ledgerWatch: LedgerWatch
  routing: Routing
  queues(): Promise<Pick<Queues, 'backend' | 'images' | 'webhooks' | 'probes'>>
}

const count = z.int()
const counts = z.object({ waiting: count, delayed: count, active: count }).nullable()
const time = z.iso.datetime()

const breaker = z.object({
  state: z.enum(['open', 'half open']),
  reason: z.string().describe('The last failure.'),
  since: time,
  open_until: time,
  openings: count.describe('In a row.'),
})

const health = z
  .object({
    status: z.enum(['All well', 'problems']),
    problems: z.array(problem).describe('What is wrong now, the worst first. Empty: all is well.'),
    database: z.object({
      reachable: z.boolean(),
      migrations: count.nullable(),
      catalog_revision: count.nullable().describe('The number of the last change of the catalog.'),
      keys_revision: count.nullable(),
    }),
    catalog: z.object({ revision: count.describe('The one that this process serves by.') }),
    channels: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        state: z.enum(['enabled', 'disabled', 'deleted']),
        is_readable: z.boolean(),
        breaker: breaker.nullable().describe('Null: closed.'),
        credentials: count,
        cooldowns: z
          .array(
            z.object({
              credential: z.string().describe('Its id.'),
              last_four: z.string().nullable(),
              model: z.string().nullable().describe('Null: for all models.'),
              why: z.enum(['limited', 'refused', 'forbidden']),
              left_ms: count,
            }),
          )
          .describe('Of this process.'),
        load: z.object({ running: count, most: count }).describe('Calls of this process.'),
        recent: z
          .object({ calls: count, failed: count, last_error: z.string().nullable() })
          .describe(`Of the last ${recentMinutes} minutes, of all processes.`),
      }),
    ),
    queues: z.object({
      reachable: z.boolean(),
      backend: z.enum(['redis', 'postgres']).nullable(),
      images: counts,
      webhooks: counts,
      probes: counts,
      images_waiting: count.nullable().describe('Image jobs that wait, in the queue or before it.'),
      webhooks_waiting: count.nullable(),
    }),
    ledger: z
      .object({
        status: z.enum(['ready', 'degraded', 'lagging', 'near_bound']),
        unshipped_rows: count,
        unshipped_oldest_ms: count,
        journal_bytes: count,
        trouble: z.string().nullable(),
        frames_set_aside: count,
        adoption_failed: z.array(z.object({ instance: z.string(), reason: z.string() })),
      })
      .describe('Of this process.'),
    processes: z.array(
      z.object({ id: z.uuid(), host: z.string(), pid: count, started_at: time, heartbeat_at: time }),
    ),
  })
  .meta({ id: 'Health' })

export type Health = z.output<typeof health>

const answerMs = 3_000
const resetAnswer = z
  .object({ channel: z.string(), breaker: z.literal('closed') })
  .meta({ id: 'ClosedBreaker' })

/** Whether anything is wrong. */
export function healthEndpoints(context: AdminHealthContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/health',
      area: 'health',
      summary: 'Is anything wrong?',
      description: 'It answers when Postgres or the queue does not, and says so.',
      answer: health,
      async handle() {
        return { body: await readHealth(context) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/channels/{id}/breaker/reset',
      area: 'health',
      summary: "Close a channel's breaker in all processes",
      description: 'The channel gets requests again at once. It opens again when they fail.',
      params: channelPath,
      answer: resetAnswer,
      async change({ tx, params: { id }, audit }) {
        const { row } = foundChannel(await readAllRows(tx), id, context.keeper)
        const open = (await readOpenBreakers(tx)).find(({ channelId }) => channelId === row.id)
        await resetBreaker(tx, row.id)
        await audit({
          action: 'channel.breaker_reset',
          resource: 'channel',
          id: row.id,
          name: row.name,
          before: { breaker: open === undefined ? 'closed' : 'open', reason: open?.reason ?? null },
          after: { breaker: 'closed' },
        })
        return { body: { channel: row.name, breaker: 'closed' as const } }
      },
    }),
  ]
}

async function readHealth(context: AdminHealthContext): Promise<Health> {
  const [stored, queues] = await Promise.all([readStored(context), readQueues(context)])
  const now = Date.now()
  const parts = {
    database: {
      reachable: stored !== undefined,
      migrations: stored?.schema.applied ?? null,
      catalog_revision: stored?.revisions?.catalog ?? null,
      keys_revision: stored?.revisions?.keys ?? null,
    },
    catalog: { revision: context.catalog.snapshot.revision },
    channels: stored === undefined ? [] : channelsOf(context, stored, now),
    queues: {
      ...queues,
      images_waiting: stored?.waiting.images ?? null,
      webhooks_waiting: stored?.waiting.webhooks ?? null,
    },
    ledger: ledgerOf(context),
    processes: (stored?.processes ?? []).map(({ id, host, pid, startedAt, heartbeatAt }) => ({
      ...{ id, host, pid },
      started_at: startedAt.toISOString(),
      heartbeat_at: heartbeatAt.toISOString(),
    })),
  }
  const problems = problemsOf(parts, now)
  return { status: problems.length === 0 ? 'All well' : 'problems', problems, ...parts }
}

type Stored = NonNullable<Awaited<ReturnType<typeof readStored>>>

/** Undefined: Postgres does not answer. */
async function readStored({ database }: AdminHealthContext) {
  const { reads } = database
  const within = { withinMs: answerMs }
  try {
    const [rows, breakers, processes, revisions, waiting, recent, schema] = await Promise.all([
      reads.ask(({ db }): Promise<AllRows> => readAllRows(db), within),
      reads.ask(({ db }) => readOpenBreakers(db), within),
      reads.ask(({ db }) => readInstances(db), within),
      reads.ask(({ db }) => readRevisions(db), within),
      reads.ask(({ db }) => countWaiting(db), within),
      reads.ask(({ db }) => readRecentCalls(db), within),
      reads.ask(({ sql }) => readSchemaVersion(sql), within),
    ])
    return { rows, breakers, processes, revisions, waiting, recent, schema }
  } catch {
    return undefined
  }
}

function channelsOf(
  { routing, keeper }: AdminHealthContext,
  stored: Stored,
  now: number,
): Health['channels'] {
  const { rows, breakers, recent } = stored
  const openOf = new Map(breakers.map((row) => [row.channelId, row]))
  const recentOf = new Map(recent.map((row) => [row.channel, row]))
  return rows.channels.flatMap((row) => {
    const channel = storedChannel(row, rows, keeper)
    const { state, is_readable, credentials } = channelJson(channel)
    if (state === 'deleted') return []
    const open = openOf.get(row.id)
    const calls = recentOf.get(row.name)
    const lastFour = new Map(credentials.map((one) => [one.id, one.last_four]))
    return [
      {
        ...{ id: row.id, name: row.name, state, is_readable, credentials: credentials.length },
        breaker:
          open === undefined
            ? null
            : {
                state: open.openUntil.getTime() > now ? ('open' as const) : ('half open' as const),
                reason: open.reason,
                since: open.changedAt.toISOString(),
                open_until: open.openUntil.toISOString(),
                openings: open.openings,
              },
        cooldowns: routing.cooldowns.of(row.id).map(({ credential, model, why, leftMs }) => ({
          ...{ credential, why, left_ms: leftMs },
          last_four: lastFour.get(credential) ?? null,
          model: model ?? null,
        })),
        load: routing.load.of({ id: row.id, concurrency: row.concurrency ?? undefined }),
        recent: {
          calls: calls?.calls ?? 0,
          failed: calls?.failed ?? 0,
          last_error: calls?.lastError ?? null,
        },
      },
    ]
  })
}

async function readQueues({ queues }: AdminHealthContext) {
  const read = async () => {
    const { backend, images, webhooks, probes } = await queues()
    const [ofImages, ofWebhooks, ofProbes] = await Promise.all([
      images.counts(),
      webhooks.counts(),
      probes.counts(),
    ])
    return { reachable: true, backend, images: ofImages, webhooks: ofWebhooks, probes: ofProbes }
  }
  const away = { reachable: false, backend: null, images: null, webhooks: null, probes: null }
  return await inTime(read(), answerMs, 'the queue').catch(() => away)
}

function ledgerOf({ ledger, ledgerWatch }: AdminHealthContext): Health['ledger'] {
  const { journalBytes, trouble } = ledger.health()
  const { status, unshipped, adoption, setAside } = ledgerWatch.state()
  return {
    status,
    unshipped_rows: unshipped.rows,
    unshipped_oldest_ms: unshipped.oldestMs,
    journal_bytes: journalBytes,
    trouble: trouble === undefined ? null : String(trouble),
    frames_set_aside: setAside.length,
    adoption_failed: [...adoption.failed],
  }
}
