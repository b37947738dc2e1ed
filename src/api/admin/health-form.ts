import { z } from 'zod'
import { recentMinutes } from './health-queries.ts'

const problem = z
  .object({
    severity: z.enum(['bad', 'warning']).describe('`bad`: requests fail, or soon will.'),
    what: z.string().describe('In plain words.'),
    since: z.iso.datetime().nullable(),
    where: z.string().describe('The part of the gateway, as `channel openai-eu`.'),
  })
  .meta({ id: 'HealthProblem' })

export type HealthProblem = z.output<typeof problem>

const count = z.int()
const counts = z.object({ waiting: count, delayed: count, active: count }).nullable()
const time = z.iso.datetime()

const breaker = z.object({
  state: z.enum(['open', 'half open']),
  reason: z.string().describe('The last failure.'),
  since: time.describe('When the first of these processes opened it.'),
  open_until: time.describe('When the last of these processes tries the channel again.'),
  openings: count.describe('The most in a row that a process has counted.'),
  open_in: count.describe('Live processes in which it is open or half open.'),
  processes: count.describe('All live processes.'),
})

/** `GET /admin/v1/health`. */
export const health = z
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
        breaker: breaker.nullable().describe('Null: closed in all processes.'),
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
      answers: counts,
      webhooks: counts,
      probes: counts,
      images_waiting: count.nullable().describe('Image jobs that wait, in the queue or before it.'),
      answers_waiting: count
        .nullable()
        .describe('Answers in the background that wait, in the queue or before it.'),
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
    sockets: z
      .object({
        open: count,
        state_bytes: count.describe('What they remember of their last answers.'),
        keys: z.array(z.object({ key_id: z.string(), open: count })).describe('Those with most, 20 at most.'),
      })
      .describe('WebSockets of clients of this process.'),
    processes: z.array(
      z.object({ id: z.uuid(), host: z.string(), pid: count, started_at: time, heartbeat_at: time }),
    ),
  })
  .meta({ id: 'Health' })

export type Health = z.output<typeof health>
