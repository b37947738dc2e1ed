import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import { textOf } from '../canonical/json.ts'
import { EventStream } from '../http/event-stream.ts'
import { cancelJob } from '../images/cancel-job.ts'
import { followJob } from '../images/follow-job.ts'
import { sendFile } from '../images/image-bytes.ts'
import type { ImageGateway } from '../images/image-gateway.ts'
import { jobWithPosition, linkerFor } from '../images/job-answer.ts'
import type { ImageJob } from '../images/jobs/job.ts'
import { jobJson } from '../images/jobs/job-json.ts'
import type { JobScope } from '../images/jobs/jobs.ts'
import { webhookSecret } from '../images/jobs/webhook-secret.ts'
import type { Received } from '../stages/received.ts'
import { jobListParameters } from './image-parameters.ts'
import type { OwnEndpoint } from './own-endpoint.ts'

/** Image jobs after their request: looked at, followed, cancelled, and their images fetched. */
export function imageEndpoints(gateway: ImageGateway): OwnEndpoint[] {
  const { jobs, storage, links, webhookKey } = gateway.images

  return [
    {
      method: 'GET',
      path: '/v1/images/generations',
      summary: 'Image jobs, newest first',
      logged: false,
      needsKey: true,
      async handle({ stage, query }) {
        const { before, state, limit } = jobListParameters(query)
        const found = await jobs.list(scopeOf(stage.identity), before, state, limit + 1)
        const page = found.slice(0, limit)
        const linkTo = linkerFor(gateway, stage.request)
        return {
          body: {
            data: page.map((job) => jobJson(job, null, linkTo)),
            next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/v1/images/generations/{id}',
      summary: 'One image job',
      logged: false,
      needsKey: true,
      async handle({ stage, params }) {
        const job = await jobOf(params.id, stage.identity)
        return { body: await jobWithPosition(gateway, stage.request, job) }
      },
    },
    {
      method: 'DELETE',
      path: '/v1/images/generations/{id}',
      summary: 'Cancel an image job',
      logged: true,
      needsKey: true,
      async handle({ stage, params }) {
        const job = await jobOf(params.id, stage.identity)
        const cancelled = (await cancelJob(gateway, job.id)) ?? job
        return { body: await jobWithPosition(gateway, stage.request, cancelled) }
      },
    },
    {
      method: 'GET',
      path: '/v1/images/generations/{id}/events',
      summary: 'The whole job at once and after each change, until its end, as server-sent events',
      logged: false,
      needsKey: true,
      async handle({ stage, params }) {
        await follow(gateway, stage, await jobOf(params.id, stage.identity))
        return undefined
      },
    },
    {
      method: 'GET',
      path: '/v1/images/files/{day}/{name}',
      summary: 'The bytes of an image, for whoever has its link',
      logged: false,
      needsKey: false,
      async handle({ stage, params, query }) {
        const file = `${params.day}/${params.name}`
        links.verify(file, textOf(query.expires), textOf(query.signature), Date.now())
        await sendFile(storage, file, stage.response, gateway.bounds.clientStallMs)
        return undefined
      },
    },
    {
      method: 'GET',
      path: '/v1/images/webhook-secret',
      summary: "What the caller's tenant checks the signatures of webhooks with",
      logged: false,
      needsKey: true,
      async handle({ stage }) {
        return { body: { secret: webhookSecret(webhookKey, stage.identity.tenantId) } }
      },
    },
  ]

  async function jobOf(wanted: string | undefined, identity: Identity): Promise<ImageJob> {
    const id = (wanted ?? '').toLowerCase()
    const [job] = uuid.test(id) ? await jobs.read([id]) : []
    const { tenantId, keyId } = scopeOf(identity)
    if (job !== undefined && job.tenantId === tenantId && (keyId === null || job.keyId === keyId)) return job
    throw new GatewayError(
      'unknown_path',
      'No image generation of yours has this id. GET /v1/images/generations lists those that there are.',
    )
  }
}

async function follow(gateway: ImageGateway, received: Received, job: ImageJob): Promise<void> {
  const { id, request, response, life } = received
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (response.destroyed) return
  life.running = { resume() {}, abort: () => gone.abort() }
  const events = new EventStream(response, { 'x-request-id': id }, gateway.bounds)
  let newest: ImageJob | undefined
  let said = ''
  const tell = async (write: (text: string) => Promise<void>) => {
    const changed = newest
    newest = undefined
    if (changed === undefined) return
    const position = await placeOf(gateway, changed)
    // Its links differ each time they are made, so they do not count.
    const now = JSON.stringify([changed.state, position, changed.attempts, changed.partials])
    if (position === undefined || now === said) return
    said = now
    const data = JSON.stringify(jobJson(changed, position, linkerFor(gateway, request)))
    await write(`event: ${changed.state}\ndata: ${data}\n\n`)
  }
  await followJob(gateway, job.id, gone.signal, (changed) => {
    const isTold = newest !== undefined
    newest = changed
    // A client that reads slowly gets the newest when its turn comes, and not all that was before.
    if (!isTold) void events.send(tell)
  })
  await events.end()
}

/** Null for a job that does not wait; undefined when it cannot be told just now: the job is looked at again soon. */
async function placeOf({ images }: ImageGateway, job: ImageJob): Promise<number | null | undefined> {
  if (job.state !== 'queued') return null
  return await images.jobs.positionOf(job).catch(() => undefined)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

function scopeOf({ usageScope, tenantId, keyId }: Identity): JobScope {
  return { tenantId, keyId: usageScope === 'key' ? keyId : null }
}
