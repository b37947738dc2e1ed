import { z } from 'zod'
import type { Catalog } from '../../catalog/catalog.ts'
import { storedChannel } from '../../catalog/change-entries.ts'
import { type AllRows, readAllRows } from '../../catalog/queries.ts'
import { servingOffers } from '../../catalog/serving-offers.ts'
import type { Database } from '../../db/database.ts'
import { readSchemaVersion } from '../../db/schema-version.ts'
import type { Queues } from '../../jobs/queue/queue.ts'
import { readChannelReports, resetBreaker } from '../../routing/breaker-queries.ts'
import type { Routing } from '../../routing/routing.ts'
import { inTime } from '../../runtime/in-time.ts'
import type { Ledger } from '../../shipping/ledger.ts'
import type { LedgerWatch } from '../../shipping/ledger-watch.ts'
import type { OpenSockets } from '../../sockets/open-sockets.ts'
import { channelJson } from './channel-json.ts'
import { type AdminChannelsContext, channelPath, foundChannel } from './channels.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { type Health, health } from './health-form.ts'
import { answersAgainSince, isDown, problemsOf } from './health-problems.ts'
import { countWaiting, readInstances, readRecentCalls, readRevisions } from './health-queries.ts'

export interface AdminHealthContext extends AdminChannelsContext {
  database: Database
  catalog: Catalog
  ledger: Ledger
  ledgerWatch: LedgerWatch
  routing: Routing
  sockets: Pick<OpenSockets, 'size' | 'state'>
  queues(): Promise<Pick<Queues, 'backend' | 'images' | 'answers' | 'webhooks' | 'probes'>>
}

const answerMs = 3_000
const resetAnswer = z
  .object({ channel: z.string(), breaker: z.literal('closed') })
  .meta({ id: 'ClosedBreaker' })

/** Reports whether anything is wrong. */
export function healthEndpoints(context: AdminHealthContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/health',
      area: 'health',
      summary: 'Get the health of the gateway and its current problems',
      description: 'Also responds, with the problem, if Postgres or the queue is not responding.',
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
      description:
        'Each process uses the channel again as soon as it reads the change, which takes up to a second while it can reach Postgres. The breaker of a process opens again if its calls fail.',
      params: channelPath,
      answer: resetAnswer,
      async change({ tx, params: { id }, audit }) {
        const { row } = foundChannel(await readAllRows(tx), id, context.keeper)
        const reports = await readChannelReports(tx)
        const open = reports.find(({ channelId, kind }) => channelId === row.id && kind === 'breaker')
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
    channels: stored === undefined ? [] : withOnlyChannels(channelsOf(context, stored, now), stored),
    queues: {
      ...queues,
      images_waiting: stored?.waiting.images ?? null,
      answers_waiting: stored?.waiting.answers ?? null,
      webhooks_waiting: stored?.waiting.webhooks ?? null,
    },
    ledger: ledgerOf(context),
    sockets: socketsOf(context),
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

/** Returns undefined if Postgres does not answer. */
async function readStored({ database }: AdminHealthContext) {
  const { reads } = database
  const within = { withinMs: answerMs }
  try {
    const [rows, reports, processes, revisions, waiting, recent, schema] = await Promise.all([
      reads.ask(({ db }): Promise<AllRows> => readAllRows(db), within),
      reads.ask(({ db }) => readChannelReports(db), within),
      reads.ask(({ db }) => readInstances(db), within),
      reads.ask(({ db }) => readRevisions(db), within),
      reads.ask(({ db }) => countWaiting(db), within),
      reads.ask(({ db }) => readRecentCalls(db), within),
      reads.ask(({ sql }) => readSchemaVersion(sql), within),
    ])
    return { rows, reports, processes, revisions, waiting, recent, schema }
  } catch {
    return undefined
  }
}

function channelsOf(
  { routing, keeper }: AdminHealthContext,
  stored: Stored,
  now: number,
): Health['channels'] {
  const { rows, reports, recent } = stored
  const reportsOf = Map.groupBy(reports, ({ channelId }) => channelId)
  const recentOf = new Map(recent.map((row) => [row.channel, row]))
  const inOrder = rows.channels.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return inOrder.flatMap((row) => {
    const channel = storedChannel(row, rows, keeper)
    const { state, blocked, is_readable, credentials } = channelJson(channel)
    if (state === 'deleted') return []
    const said = (of: (typeof reports)[number]['kind']) =>
      reportsOf.get(row.id)?.find(({ kind }) => kind === of)
    const [open, refused, silent] = [said('breaker'), said('refused'), said('silent')]
    const calls = recentOf.get(row.name)
    const lastFour = new Map(credentials.map((one) => [one.id, one.last_four]))
    return [
      {
        blocked: blocked !== null,
        ...{ id: row.id, name: row.name, state, is_readable, credentials: credentials.length },
        breaker:
          open === undefined
            ? null
            : {
                state: open.openUntil.getTime() > now ? ('open' as const) : ('half open' as const),
                reason: open.reason,
                since: open.since.toISOString(),
                open_until: open.openUntil.toISOString(),
                openings: open.openings,
                open_in: open.openIn,
                processes: open.processes,
              },
        refused:
          refused === undefined || open !== undefined
            ? null
            : { since: refused.since.toISOString(), reason: refused.reason, ...processesOf(refused) },
        silent:
          silent === undefined || open !== undefined
            ? null
            : {
                since: silent.since.toISOString(),
                waiting: silent.waiting,
                oldest_ms: silent.oldestAt && Math.max(0, now - silent.oldestAt.getTime()),
                ...processesOf(silent),
              },
        only_channel_for: { count: 0, models: [] },
        cooldowns: routing.cooldowns.of(row.id).map(({ credential, model, why, leftMs }) => ({
          ...{ credential, why, left_ms: leftMs },
          last_four: lastFour.get(credential) ?? null,
          model: model ?? null,
        })),
        load: routing.load.of({ id: row.id, concurrency: row.concurrency ?? undefined }),
        recent: {
          calls: calls?.calls ?? 0,
          failed: calls?.failed ?? 0,
          unanswered: calls?.unanswered ?? 0,
          answers_again_since: calls === undefined ? null : answersAgainSince(calls),
          last_error: calls?.lastError ?? null,
        },
      },
    ]
  })
}

function processesOf({ openIn, processes }: { openIn: number; processes: number }) {
  return { reported_in: openIn, processes }
}

/** The number of models that are named. */
const namedMost = 20

/** Adds to each channel the models that no other one can answer now. */
function withOnlyChannels(channels: Health['channels'], { rows }: Stored): Health['channels'] {
  const byModel = Map.groupBy(rows.offers, ({ modelId }) => modelId)
  const enabled = rows.models.filter(({ disabledAt }) => disabledAt === null)
  const working = new Set(
    channels.filter((one) => one.state === 'enabled' && !one.blocked && !isDown(one)).map(({ id }) => id),
  )
  const only = enabled.flatMap(({ id }) => {
    const offering = new Set(servingOffers(byModel, id).map(({ channelId }) => channelId))
    const left = [...offering].filter((channelId) => working.has(channelId))
    if (left.length > 1) return []
    return (left.length === 1 ? left : [...offering]).map((channelId) => ({ channelId, id }))
  })
  const onlyOf = Map.groupBy(only, ({ channelId }) => channelId)
  return channels.map((channel) => {
    const models = (onlyOf.get(channel.id) ?? []).map(({ id }) => id).sort()
    return { ...channel, only_channel_for: { count: models.length, models: models.slice(0, namedMost) } }
  })
}

async function readQueues({ queues }: AdminHealthContext) {
  const read = async () => {
    const { backend, ...open } = await queues()
    const counts = [open.images, open.answers, open.webhooks, open.probes].map((queue) => queue.counts())
    const [images = null, answers = null, webhooks = null, probes = null] = await Promise.all(counts)
    return { reachable: true, backend, images, answers, webhooks, probes }
  }
  const away = { reachable: false, backend: null, images: null, answers: null, webhooks: null, probes: null }
  return await inTime(read(), answerMs, 'the queue').catch(() => away)
}

function socketsOf({ sockets }: AdminHealthContext): Health['sockets'] {
  const { stateBytes, keys } = sockets.state(20)
  return {
    open: sockets.size,
    state_bytes: stateBytes,
    keys: keys.map(({ owner, count }) => ({ key_id: owner, open: count })),
  }
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
