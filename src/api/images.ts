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
import { originFor } from '../pipeline/background/job-webhook.ts'
import type { Received } from '../pipeline/received.ts'
import { type ClientEndpoint, keyEndpoint, linkEndpoint } from './endpoint.ts'
import { id, isId, oneOfWords, wholeNumber } from './parameter.ts'
import { readFor } from './read-for.ts'
import { rowScopeOf } from './usage-walk.ts'

const jobQuery = z.strictObject({
  cursor: id('the next_cursor of the previous page')
    .optional()
    .describe('The `next_cursor` of the previous page.'),
  status: oneOfWords(jobStates).optional(),
  limit: wholeNumber(1, 200).default(50).describe('The maximum number of jobs per page.'),
})

const jobPage = z
  .object({
    data: z.array(imageJob),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  })
  .meta({ id: 'ImageJobPage' })

const jobPath = z.object({
  id: z.string().describe('The id of the job, which is the `x-request-id` of its request.'),
})

const linkQuery = z.object({
  // We never issue a link with a repeated parameter, so ImageLinks rejects one.
  expires: z.string().optional().catch(undefined).describe('The expiry time in seconds since the epoch.'),
  signature: z.string().optional().catch(undefined),
})

const secretAnswer = z
  .object({
    secret: z.string().describe('The secret in the Standard Webhooks format: `whsec_` followed by base64.'),
  })
  .meta({ id: 'WebhookSecret' })

/** Image jobs after their creation: clients can read, follow and cancel them, and fetch their images. */
export function imageEndpoints(gateway: ImageGateway): ClientEndpoint[] {
  const { storage, links, webhookKeys } = gateway.images
  return [
    jobListEndpoint(gateway),
    keyEndpoint({
      method: 'GET',
      path: '/v1/images/generations/{id}',
      summary: 'Get an image job',
      params: jobPath,
      answer: imageJob,
      async handle({ stage, params }) {
        const job = await jobOf(gateway, params.id, stage.identity)
        return { body: await jobWithPosition(gateway, originFor(stage), job) }
      },
    }),
    keyEndpoint({
      method: 'DELETE',
      path: '/v1/images/generations/{id}',
      summary: 'Cancel an image job',
      description: 'A job that has already ended is not changed.',
      logged: true,
      params: jobPath,
      answer: imageJob,
      async handle({ stage, params }) {
        const job = await jobOf(gateway, params.id, stage.identity)
        const cancelled = (await cancelJob(gateway, job.id)) ?? job
        return { body: await jobWithPosition(gateway, originFor(stage), cancelled) }
      },
    }),
    keyEndpoint({
      method: 'GET',
      path: '/v1/images/generations/{id}/events',
      summary: 'Follow an image job',
      description:
        "Server-sent events with the complete job, at once and after each change until it ends. The event's name is the job's `status`, and its data is the job.",
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
      summary: 'Download an image by its signed link',
      media: 'image/*',
      params: z.object({ day: z.string(), name: z.string() }),
      query: linkQuery,
      async handle({ stage, params: { day, name }, query: { expires, signature } }) {
        const file = `${day}/${name}`
        const keepSeconds = links.verify(file, expires, signature, Date.now())
        const terms = { keepSeconds, stallMs: gateway.bounds.clientStallMs }
        await sendFile(storage, file, stage.exchange.reply, terms)
        return undefined
      },
    }),
    keyEndpoint({
      method: 'GET',
      path: '/v1/images/webhook-secret',
      summary: "Get the secret that signs the webhooks of the caller's tenant",
      description:
        'A key with `usage_scope: key` is refused, because all keys of the tenant share the secret.',
      answer: secretAnswer,
      async handle({ stage }) {
        if (stage.identity.usageScope === 'key') throw gatewayError('webhook_secret_not_shared')
        return { body: { secret: webhookSecret(webhookKeys, stage.identity.tenantId) } }
      },
    }),
  ]
}

function jobListEndpoint(gateway: ImageGateway): ClientEndpoint {
  const { jobs } = gateway
  return keyEndpoint({
    method: 'GET',
    path: '/v1/images/generations',
    summary: 'List image jobs, newest first',
    query: jobQuery,
    answer: jobPage,
    async handle({ stage, query: { cursor, status, limit } }) {
      const scope = rowScopeOf(stage.identity)
      const found = await readFor(stage, (terms) =>
        jobs.list(scope, { kind: 'image', before: cursor, state: status, limit: limit + 1 }, terms),
      )
      const page = found.slice(0, limit)
      const linkTo = linkerFor(gateway, originFor(stage))
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
  const { id, exchange, life } = received
  const { reply } = exchange
  const gone = new AbortController()
  reply.once('close', () => gone.abort())
  if (reply.destroyed) return
  life.running = { resume() {}, abort: () => gone.abort() }
  const events = new EventStream(reply, { 'x-request-id': id }, gateway.bounds)
  let newest: Job | undefined
  let sent = ''
  const sendNewest = async (write: (text: string) => Promise<void>) => {
    const changed = newest
    newest = undefined
    if (changed === undefined) return
    const position = await placeOf(gateway, changed)
    // Links differ each time they are created, so they do not count as a change.
    const { showsRouting } = gateway
    const attempts = showsRouting ? changed.attempts : []
    const now = JSON.stringify([changed.state, position, attempts, changed.partials])
    if (position === undefined || now === sent) return
    sent = now
    const linkTo = linkerFor(gateway, originFor(received))
    const data = JSON.stringify(jobJson(changed, { position, linkTo, showsRouting }))
    await write(`event: ${changed.state}\ndata: ${data}\n\n`)
  }
  await followJob(gateway, job.id, gone.signal, (changed) => {
    const isWaiting = newest !== undefined
    newest = changed
    // A client that reads slowly receives only the latest state, not the ones before it.
    if (!isWaiting) void events.send(sendNewest)
  })
  await events.end()
}

/**
 * Returns null for a job that is not waiting, and undefined if Postgres does not answer, in which case the
 * watch will read the job again soon.
 */
async function placeOf({ jobs }: ImageGateway, job: Job): Promise<number | null | undefined> {
  if (job.state !== 'queued') return null
  return await jobs.positionOf(job).catch(() => undefined)
}
