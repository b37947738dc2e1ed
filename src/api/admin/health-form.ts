import { z } from 'zod'
import { recentMinutes } from './health-queries.ts'

const problem = z
  .object({
    severity: z.enum(['bad', 'warning']).describe('`bad`: requests are failing or soon will be.'),
    what: z.string().describe('A description of the problem.'),
    cause: z
      .string()
      .nullable()
      .describe(
        'The same in a few words, to follow the name of the channel. Null if it is not of a channel.',
      ),
    since: z.iso.datetime().nullable(),
    where: z.string().describe('The affected part of the gateway, such as `channel openai-eu`.'),
  })
  .meta({ id: 'HealthProblem' })

export type HealthProblem = z.output<typeof problem>

const count = z.int()
const counts = z.object({ waiting: count, delayed: count, active: count }).nullable()
const time = z.iso.datetime()

const breaker = z.object({
  state: z.enum(['open', 'half open']),
  reason: z.string().describe('The last failure that caused the breaker to open.'),
  since: time.describe('When the first of these processes opened the breaker.'),
  open_until: time.describe('When the last of these processes will try the channel again.'),
  openings: count.describe('The maximum number of consecutive openings in any process.'),
  open_in: count.describe('The number of live processes in which the breaker is open or half open.'),
  processes: count.describe('The number of live processes.'),
})

const reportedIn = {
  reported_in: count.describe('The number of live processes that see this.'),
  processes: count.describe('The number of live processes.'),
}

const refused = z.object({
  since: time.describe('Since when none of the credentials was accepted.'),
  reason: z.string().describe('The last refusal.'),
  ...reportedIn,
})

const silent = z.object({
  since: time.describe('Since when no call was answered.'),
  waiting: count.describe('The calls that wait for an answer now.'),
  oldest_ms: count.nullable().describe('How long the first of them has waited. Null if none waits now.'),
  ...reportedIn,
})

/** The response of `GET /admin/v1/health`. */
export const health = z
  .object({
    status: z.enum(['All well', 'problems']),
    problems: z.array(problem).describe('The current problems, most severe first. Empty if there are none.'),
    database: z.object({
      reachable: z.boolean(),
      migrations: count.nullable(),
      catalog_revision: count.nullable().describe('The revision of the last change of the catalog.'),
      keys_revision: count.nullable(),
    }),
    catalog: z.object({ revision: count.describe('The revision that this process uses.') }),
    channels: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        state: z.enum(['enabled', 'disabled', 'deleted']),
        blocked: z.boolean().describe('Whether a person has blocked the channel, which is not a problem.'),
        is_readable: z.boolean(),
        breaker: breaker.nullable().describe('Null if the breaker is closed in all processes.'),
        refused: refused
          .nullable()
          .describe('That the upstream refuses all credentials. Null if the breaker is open.'),
        silent: silent
          .nullable()
          .describe('That calls wait, and none was answered for long. Null if the breaker is open.'),
        only_channel_for: z
          .object({ count, models: z.array(z.string()).describe('Their names, at most 20.') })
          .describe(
            'The models that no other channel can answer now. A channel that is disabled or has a `bad` problem does not count.',
          ),
        credentials: count,
        cooldowns: z
          .array(
            z.object({
              credential: z.string().describe('The id of the credential.'),
              last_four: z.string().nullable(),
              model: z.string().nullable().describe('The affected model. Null if all models are affected.'),
              why: z.enum(['limited', 'refused', 'forbidden']),
              left_ms: count,
            }),
          )
          .describe('The cooldowns in this process.'),
        load: z.object({ running: count, most: count }).describe('The calls of this process to the channel.'),
        recent: z
          .object({
            calls: count,
            failed: count,
            unanswered: count.describe('The calls whose client left before an answer began.'),
            last_error: z.string().nullable(),
            answers_again_since: time
              .nullable()
              .describe(
                'Since when the channel has answered all calls, if it failed before. Null if this may be chance.',
              ),
          })
          .describe(`The calls of all processes in the last ${recentMinutes} minutes.`),
      }),
    ),
    queues: z.object({
      reachable: z.boolean(),
      backend: z.enum(['redis', 'postgres']).nullable(),
      images: counts,
      answers: counts,
      webhooks: counts,
      probes: counts,
      images_waiting: count
        .nullable()
        .describe('The number of waiting image jobs, including those not yet in the queue.'),
      answers_waiting: count
        .nullable()
        .describe('The number of waiting background answers, including those not yet in the queue.'),
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
      .describe('The ledger of this process.'),
    sockets: z
      .object({
        open: count,
        state_bytes: count.describe('The memory used for the state of their last answers.'),
        keys: z
          .array(z.object({ key_id: z.string(), open: count }))
          .describe('The keys with the most connections, at most 20.'),
      })
      .describe('The WebSocket connections of clients to this process.'),
    processes: z.array(
      z.object({ id: z.uuid(), host: z.string(), pid: count, started_at: time, heartbeat_at: time }),
    ),
  })
  .meta({ id: 'Health' })

export type Health = z.output<typeof health>
