import { z } from 'zod'
import type { Identity } from '../access/identity.ts'
import { gatewayError } from '../canonical/error.ts'
import { EventStream } from '../http/event-stream.ts'
import { cancelJob } from '../images/cancel-job.ts'
import { followJob } from '../images/follow-job.ts'
import { sendFile } from '../images/image-bytes.ts'
import type { ImageGateway } from '../images/image-gateway.ts'
import { jobWithPosition, linkerFor } from '../images/job-answer.ts'
import { imageJob, jobJson } from '../images/job-json.ts'
import { type Job, jobStates } from '../jobs/job.ts'
import { webhookSecret } from '../jobs/webhook-secret.ts'
import type { Received } from '../stages/received.ts'
import { keyEndpoint, linkEndpoint, type OwnEndpoint } from './own-endpoint.ts'
import { id, isId, oneOfWords, wholeNumber } from './parameter.ts'
import { readFor } from './read-for.ts'
import { rowScopeOf } from './usage.ts'

const jobQuery = z.strictObject({
  cursor: id('next_cursor of the page before').optional().describe('`next_cursor` of the page before.'),
  status: oneOfWords(jobStates).optional(),
  limit: wholeNumber(1, 200).default(50).describe('Jobs on a page.'),
})

const jobPage = z
  .object({
    data: z.array(imageJob),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  })
  .meta({ id: 'ImageJobPage' })

const jobPath = z.object({ id: z.string().describe('Of the job: the `x-request-id` of its request.') })

const linkQuery = z.object({
  // We never give a link that has a part twice: ImageLinks refuses it.
  expires: z.string().optional().catch(undefined).describe('Seconds since the epoch.'),
  signature: z.string().optional().catch(undefined),
})

const secretAnswer = z
  .object({ secret: z.string().describe('`whsec_` and base64, as the Standard Webhooks have it.') })
  .meta({ id: 'WebhookSecret' })

/** Image jobs after their request: clients look at them, follow and cancel them, and fetch their images. */
export function imageEndpoints(gateway: ImageGateway): OwnEndpoint[] {
  const { storage, links, webhookKeys } = gateway.images
  return [
    jobListEndpoint(gateway),
    keyEndpoint({
      method: 'GET',
      path: '/v1/images/generations/{id}',
      summary: 'One image job',
      params: jobPath,
      answer: imageJob,
      async handle({ stage, params }) {
        const job = await jobOf(gateway, params.id, stage.identity)
        return { body: await jobWithPosition(gateway, stage.request, job) }
      },
    }),
    keyEndpoint({
      method: 'DELETE',
      path: '/v1/images/generations/{id}',
      summary: 'Cancel an image job',
      description: 'A job that has ended stays as it is.',
      logged: true,
      params: jobPath,
      answer: imageJob,
      async handle({ stage, params }) {
        const job = await jobOf(gateway, params.id, stage.identity)
        const cancelled = (await cancelJob(gateway, job.id)) ?? job
        return { body: await jobWithPosition(gateway, stage.request, cancelled) }
      },
    }),
    keyEndpoint({
      method: 'GET',
      path: '/v1/images/generations/{id}/events',
      summary: 'The whole job at once and after each change, until its end, as server-sent events',
      description: "An event's name is the job's `status`, its data the job.",
      media: 'text/event-stream',
      params: jobPath,
      answer: imageJob,
      async handle({ stage, params }) {
        await follow(gateway, stage, await jobOf(gateway, params.id, stage.identity))
        return undefined
      },
    }),
    linkEndpoint({
      method: 'GET',
      path: '/v1/images/files/{day}/{name}',
      summary: 'The bytes of an image, for anybody who has its link',
      media: 'image/*',
      params: z.object({ day: z.string(), name: z.string() }),
      query: linkQuery,
      async handle({ stage, params: { day, name }, query: { expires, signature } }) {
        const file = `${day}/${name}`
        const keepSeconds = links.verify(file, expires, signature, Date.now())
        const terms = { keepSeconds, stallMs: gateway.bounds.clientStallMs }
        await sendFile(storage, file, stage.response, terms)
        return undefined
      },
    }),
    keyEndpoint({
      method: 'GET',
      path: '/v1/images/webhook-secret',
      summary: "The secret that signs the webhooks of the caller's tenant",
      description: 'A key with `usage_scope: key` is refused: the secret is that of all keys of the tenant.',
      answer: secretAnswer,
      async handle({ stage }) {
        if (stage.identity.usageScope === 'key') throw gatewayError('webhook_secret_not_shared')
        return { body: { secret: webhookSecret(webhookKeys, stage.identity.tenantId) } }
      },
    }),
  ]
}

function jobListEndpoint(gateway: ImageGateway): OwnEndpoint {
  const { jobs } = gateway
  return keyEndpoint({
    method: 'GET',
    path: '/v1/images/generations',
    summary: 'Image jobs, newest first',
    query: jobQuery,
    answer: jobPage,
    async handle({ stage, query: { cursor, status, limit } }) {
      const scope = rowScopeOf(stage.identity)
      const found = await readFor(stage, (terms) =>
        jobs.list(scope, { kind: 'image', before: cursor, state: status, limit: limit + 1 }, terms),
      )
      const page = found.slice(0, limit)
      const linkTo = linkerFor(gateway, stage.request)
      const { showsRouting } = gateway
      return {
        body: {
          data: page.map((job) => jobJson(job, { position: null, linkTo, showsRouting })),
          next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
        },
      }
    },
  })
}

async function jobOf({ jobs }: ImageGateway, named: string, identity: Identity): Promise<Job> {
  const wanted = named.toLowerCase()
  const [job] = isId(wanted) ? await jobs.read([wanted]) : []
  const { tenantId, keyId } = rowScopeOf(identity)
  const isTheirs = job?.tenantId === tenantId && (keyId === null || job.keyId === keyId)
  if (job?.kind === 'image' && isTheirs) return job
  throw gatewayError('image_job_not_found')
}

async function follow(gateway: ImageGateway, received: Received, job: Job): Promise<void> {
  const { id, request, response, life } = received
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (response.destroyed) return
  life.running = { resume() {}, abort: () => gone.abort() }
  const events = new EventStream(response, { 'x-request-id': id }, gateway.bounds)
  let newest: Job | undefined
  let sent = ''
  const sendNewest = async (write: (text: string) => Promise<void>) => {
    const changed = newest
    newest = undefined
    if (changed === undefined) return
    const position = await placeOf(gateway, changed)
    // Links differ each time they are made: that does not count as a change.
    const { showsRouting } = gateway
    const attempts = showsRouting ? changed.attempts : []
    const now = JSON.stringify([changed.state, position, attempts, changed.partials])
    if (position === undefined || now === sent) return
    sent = now
    const linkTo = linkerFor(gateway, request)
    const data = JSON.stringify(jobJson(changed, { position, linkTo, showsRouting }))
    await write(`event: ${changed.state}\ndata: ${data}\n\n`)
  }
  await followJob(gateway, job.id, gone.signal, (changed) => {
    const isWaiting = newest !== undefined
    newest = changed
    // A client that reads slowly gets the newest state, and none of those before it.
    if (!isWaiting) void events.send(sendNewest)
  })
  await events.end()
}

/**
 * Null for a job that does not wait; undefined while Postgres does not answer: the watch reads the job again
 * soon.
 */
async function placeOf({ jobs }: ImageGateway, job: Job): Promise<number | null | undefined> {
  if (job.state !== 'queued') return null
  return await jobs.positionOf(job).catch(() => undefined)
}
