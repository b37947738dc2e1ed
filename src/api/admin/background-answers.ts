import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../db/database.ts'
import { type Job, jobStates } from '../../jobs/job.ts'
import { jobCalls, jobCallsJson, jobEnd, jobEndJson, jobTimes, jobTimesJson } from '../../jobs/job-facts.ts'
import { findJobs } from '../../jobs/queries.ts'
import { jobOf } from '../../jobs/rows.ts'
import { cancelAnswer } from '../../pipeline/background/background-jobs.ts'
import type { Gateway } from '../../pipeline/gateway.ts'
import { knownBackgroundOf } from '../../protocols/index.ts'
import { isId, moment, oneOfWords, text } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, pageOf, pageSchema, rowPlaceAt, uuidText } from './list.ts'
import { listedTenant, requireOwn, seesRouting } from './permit.ts'
import { notFound } from './refusals.ts'

export type AdminBackgroundContext = Pick<
  Gateway,
  'jobs' | 'jobWatch' | 'backgroundAnswers' | 'showsRouting'
> & {
  database: Pick<Database, 'reads'>
}

const answer = z
  .object({
    id: z.uuid().describe('The `x-request-id` of the request.'),
    answer_id: z.string().describe('The id of the answer that the client received.'),
    ...{ tenant_id: z.uuid(), key_id: z.uuid(), group_id: z.uuid() },
    status: z.enum(jobStates),
    model: z.string(),
    ...jobTimes,
    events: z.int().describe('The number of stored events, which can be replayed.'),
    runs: z.int(),
    ...jobCalls,
    ...jobEnd,
  })
  .meta({ id: 'AdminBackgroundAnswer' })
const answers = pageSchema(answer).meta({ id: 'AdminBackgroundAnswerList' })
const path = z.object({ id: z.string().describe('The `x-request-id` of the request.') })

/**
 * Background answers of all tenants, or of a member's own, until some time after they end. Their content is
 * not available here.
 */
export function adminBackgroundEndpoints(context: AdminBackgroundContext): AdminEndpoint[] {
  const { database, jobs } = context
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/background-answers',
      area: 'jobs',
      tenants: 'own',
      summary: 'List background answers, newest first',
      query: z.strictObject({
        ...listParameters(['-created_at']),
        status: oneOfWords(jobStates).optional(),
        tenant_id: uuidText.optional(),
        model: text.optional(),
        from: moment('first moment').optional(),
        to: moment('end').optional(),
      }),
      answer: answers,
      async handle({ actor, query: { limit, sort, cursor, status, tenant_id, model, from, to }, signal }) {
        const rows = await database.reads.ask(
          ({ db }) =>
            findJobs(db, {
              kind: 'answer',
              ...{ tenantId: listedTenant(actor, tenant_id), state: status, model, from, to },
              before: rowPlaceAt(sort, cursor)?.id,
              limit: limit + 1,
            }),
          { owner: 'admin', signal },
        )
        const page = pageOf(rows.map(jobOf), { limit, sort }, ({ id }) => ({ value: null, id }))
        return {
          body: { ...page, data: page.data.map((job) => answerJson(job, seesRouting(context, actor))) },
        }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/background-answers/{id}',
      area: 'jobs',
      tenants: 'own',
      summary: 'Get a background answer',
      params: path,
      answer,
      async handle({ actor, params: { id } }) {
        return { body: answerJson(await ownJob(id, actor), seesRouting(context, actor)) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/background-answers/{id}/cancel',
      area: 'jobs',
      tenants: 'own',
      summary: 'Cancel a background answer',
      description: 'An answer that has already ended is not changed.',
      params: path,
      answer,
      async change({ actor, params: { id }, audit }) {
        const job = await ownJob(id, actor)
        await cancelAnswer(context, job.id)
        const now = await ownJob(id, actor)
        await audit({
          action: 'background_answer.cancel',
          resource: 'background_answer',
          id: job.id,
          tenantId: job.tenantId,
          before: { status: job.state },
          after: { status: now.state },
        })
        return { body: answerJson(now, seesRouting(context, actor)) }
      },
    }),
  ]

  async function ownJob(named: string, actor: Actor): Promise<Job> {
    const id = named.toLowerCase()
    const [job] = isId(id) ? await jobs.read([id]) : []
    if (job?.kind !== 'answer') throw notFound('background answer with this id')
    requireOwn(actor, job.tenantId, 'background answer with this id')
    return job
  }
}

function answerJson(job: Job, showsRouting: boolean): z.output<typeof answer> {
  const { id, tenantId, keyId, groupId, state, model, events, runs, opened } = job
  return {
    id,
    // Another release may have accepted it in a format that only that release knows.
    answer_id: knownBackgroundOf(opened.clientProtocol)?.backgroundId(id) ?? id,
    ...{ tenant_id: tenantId, key_id: keyId, group_id: groupId },
    status: state,
    model,
    ...jobTimesJson(job),
    ...{ events, runs },
    ...jobCallsJson(job, showsRouting),
    ...jobEndJson(job),
  }
}
