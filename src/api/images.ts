import type { Request, Response } from 'express'
import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import { textOf } from '../canonical/json.ts'
import { EventStream } from '../http/event-stream.ts'
import { cancelJob } from '../images/cancel-job.ts'
import { followJob } from '../images/follow-job.ts'
import { linkerFor, sendJob } from '../images/image-answer.ts'
import { sendFile } from '../images/image-bytes.ts'
import type { ImageJob } from '../images/jobs/job.ts'
import { jobJson } from '../images/jobs/job-json.ts'
import type { JobScope } from '../images/jobs/jobs.ts'
import { webhookSecret } from '../images/jobs/webhook-secret.ts'
import type { Call } from '../stages/call.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { OwnCall } from './call.ts'
import { jobListParameters } from './image-parameters.ts'

/** Image jobs after their request: looked at, followed, cancelled, and their images fetched. */
export function imageRoutes(gateway: Gateway, ownCall: OwnCall) {
  const { jobs, storage, links, webhookKey } = gateway.images

  return {
    /** `GET /v1/images/generations/{id}` */
    async detail(request: Request): Promise<void> {
      const { call, identity } = await ownCall(request)
      await sendJob(gateway, call, await jobOf(request, identity))
    },

    /** `GET /v1/images/generations`: newest first. */
    async list(request: Request, response: Response): Promise<void> {
      const { identity } = await ownCall(request)
      const { before, state, limit } = jobListParameters(request.query)
      const found = await jobs.list(scopeOf(identity), before, state, limit + 1)
      const page = found.slice(0, limit)
      const linkTo = linkerFor(gateway, request)
      response.json({
        data: page.map((job) => jobJson(job, null, linkTo)),
        next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
      })
    },

    /** `DELETE /v1/images/generations/{id}` */
    async cancel(request: Request): Promise<void> {
      const { call, identity } = await ownCall(request)
      const job = await jobOf(request, identity)
      await sendJob(gateway, call, (await cancelJob(gateway, job.id)) ?? job)
    },

    /** `GET /v1/images/generations/{id}/events`: the whole job at once and after each change, until its end. */
    async events(request: Request): Promise<void> {
      const { call, identity } = await ownCall(request)
      await follow(gateway, call, await jobOf(request, identity))
    },

    /** `GET /v1/images/files/{day}/{name}`: the bytes of an image, for who has a link. */
    async file(request: Request, response: Response): Promise<void> {
      const { day, name } = request.params
      const file = `${String(day)}/${String(name)}`
      links.verify(file, textOf(request.query.expires), textOf(request.query.signature), Date.now())
      await sendFile(storage, file, response, gateway.bounds.clientStallMs)
    },

    /** `GET /v1/images/webhook-secret`: what the caller's tenant checks our webhooks' signatures with. */
    async secret(request: Request, response: Response): Promise<void> {
      const { identity } = await ownCall(request)
      response.json({ secret: webhookSecret(webhookKey, identity.tenantId) })
    },
  }

  async function jobOf(request: Request, identity: Identity): Promise<ImageJob> {
    const id = String(request.params.id).toLowerCase()
    const [job] = uuid.test(id) ? await jobs.read([id]) : []
    const { tenantId, keyId } = scopeOf(identity)
    if (job !== undefined && job.tenantId === tenantId && (keyId === null || job.keyId === keyId)) return job
    throw new GatewayError(
      'unknown_path',
      'No image generation of yours has this id. GET /v1/images/generations lists those that there are.',
    )
  }
}

async function follow(gateway: Gateway, call: Call, job: ImageJob): Promise<void> {
  const { request, response } = call
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (response.destroyed) return
  call.running = { pause() {}, resume() {}, abort: () => gone.abort() }
  const events = new EventStream(response, { 'x-request-id': call.id }, gateway.bounds)
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
async function placeOf({ images }: Gateway, job: ImageJob): Promise<number | null | undefined> {
  if (job.state !== 'queued') return null
  return await images.jobs.positionOf(job).catch(() => undefined)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

function scopeOf({ usageScope, tenantId, keyId }: Identity): JobScope {
  return { tenantId, keyId: usageScope === 'key' ? keyId : null }
}
