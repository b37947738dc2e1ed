import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../db/database.ts'
import { calledOrigin } from '../../http/client-address.ts'
import { cancelJob } from '../../images/cancel-job.ts'
import type { ImageGateway } from '../../images/image-gateway.ts'
import { linkerFor } from '../../images/job-answer.ts'
import { imageJob, jobJson, type LinkTo } from '../../images/job-json.ts'
import { type Job, jobStates } from '../../jobs/job.ts'
import { findJobs } from '../../jobs/queries.ts'
import { jobOf } from '../../jobs/rows.ts'
import { isId, moment, oneOfWords, text } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, pageOf, pageSchema, rowPlaceAt, uuidText } from './list.ts'
import { listedTenant, requireOwn, requireRouting, seesRouting } from './permit.ts'
import { notFound } from './refusals.ts'

export type AdminImagesContext = Pick<ImageGateway, 'jobs' | 'images' | 'publicUrl' | 'showsRouting'> & {
  database: Pick<Database, 'reads'>
}

const adminJob = imageJob
  .extend({ tenant_id: z.uuid(), key_id: z.uuid(), group_id: z.uuid() })
  .meta({ id: 'AdminImageJob' })
const jobList = pageSchema(adminJob).meta({ id: 'AdminImageJobList' })
const path = z.object({
  id: z.string().describe('The id of the job, which is the `x-request-id` of its request.'),
})
/** There is no index on models and channels, so a search for them only reads the jobs of a limited period. */
const searchedDays = 30

/** Image jobs of all tenants, or of a member's own. */
export function adminImagesEndpoints(context: AdminImagesContext): AdminEndpoint[] {
  const { database, jobs } = context
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/image-jobs',
      area: 'jobs',
      tenants: 'own',
      summary: 'List image jobs, newest first',
      query: z.strictObject({
        ...listParameters(['-created_at']),
        status: oneOfWords(jobStates).optional(),
        tenant_id: uuidText.optional(),
        model: text.optional(),
        channel: text.optional().describe('The name of a channel that was called.'),
        from: moment('first moment')
          .optional()
          .describe(
            `Only jobs from this time on. Default, if model or channel is set: ${searchedDays} days ago.`,
          ),
        to: moment('end').optional(),
      }),
      answer: jobList,
      async handle({ actor, request, query, signal }) {
        const { limit, sort, cursor, status, model, channel, to } = query
        if (channel !== undefined) requireRouting(context, actor)
        const isSearch = model !== undefined || channel !== undefined
        const from = query.from ?? (isSearch ? new Date(Date.now() - searchedDays * 86_400_000) : undefined)
        const rows = await database.reads.ask(
          ({ db }) =>
            findJobs(db, {
              kind: 'image',
              ...{ tenantId: listedTenant(actor, query.tenant_id), state: status, model, channel, from, to },
              before: rowPlaceAt(sort, cursor)?.id,
              limit: limit + 1,
            }),
          { owner: 'admin', signal },
        )
        const page = pageOf(rows.map(jobOf), { limit, sort }, ({ id }) => ({ value: null, id }))
        const linkTo = linksFor(context, request)
        return {
          body: {
            ...page,
            data: page.data.map((job) => adminJobJson(job, linkTo, seesRouting(context, actor))),
          },
        }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/image-jobs/{id}',
      area: 'jobs',
      tenants: 'own',
      summary: 'Get an image job',
      params: path,
      answer: adminJob,
      async handle({ actor, request, params: { id } }) {
        const job = await ownJob(id, actor)
        return {
          body: adminJobJson(job, linksFor(context, request), seesRouting(context, actor)),
        }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/image-jobs/{id}/cancel',
      area: 'jobs',
      tenants: 'own',
      summary: 'Cancel an image job',
      description:
        'A job that has already ended is not changed. A running job ends as soon as its worker notices.',
      params: path,
      answer: adminJob,
      async change({ actor, request, params: { id }, audit }) {
        const job = await ownJob(id, actor)
        const cancelled = (await cancelJob(context, job.id)) ?? job
        await audit({
          action: 'image_job.cancel',
          resource: 'image_job',
          id: job.id,
          tenantId: job.tenantId,
          before: { status: job.state },
          after: { status: cancelled.state },
        })
        return {
          body: adminJobJson(cancelled, linksFor(context, request), seesRouting(context, actor)),
        }
      },
    }),
  ]

  async function ownJob(named: string, actor: Actor): Promise<Job> {
    const id = named.toLowerCase()
    const [job] = isId(id) ? await jobs.read([id]) : []
    if (job?.kind !== 'image') throw notFound('image job with this id')
    requireOwn(actor, job.tenantId, 'image job with this id')
    return job
  }
}

function adminJobJson(job: Job, linkTo: LinkTo, showsRouting: boolean): z.output<typeof adminJob> {
  const { tenantId, keyId, groupId } = job
  const shown = jobJson(job, { position: null, linkTo, showsRouting })
  return { ...shown, tenant_id: tenantId, key_id: keyId, group_id: groupId }
}

function linksFor(context: AdminImagesContext, request: IncomingMessage): LinkTo {
  return linkerFor(context, context.publicUrl ?? calledOrigin(request))
}
