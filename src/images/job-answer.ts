import type { Job } from '../jobs/job.ts'
import { originFor } from '../pipeline/background/job-webhook.ts'
import type { Received } from '../pipeline/received.ts'
import { redactText } from '../redaction/redact.ts'
import { requestLog } from '../telemetry/log.ts'
import type { ImageGateway } from './image-gateway.ts'
import { jobJson, type LinkTo } from './job-json.ts'

/** The parts of a process that are needed to respond with a job. */
type JobGateway = Pick<ImageGateway, 'jobs' | 'images' | 'log' | 'showsRouting'>
export type JobRequest = Pick<Received, 'id' | 'books' | 'exchange' | 'headers' | 'row'>

/** How long a client should wait before it requests the job again. */
export const askAgainSeconds = 2

/**
 * Responds with 202 and the job, or with the little that is known if Postgres does not respond. Never
 * rejects.
 */
export async function answerLater(
  gateway: JobGateway,
  received: JobRequest,
  headers: Record<string, string> = {},
): Promise<void> {
  const job = await currentJob(gateway, received).catch((cause: unknown) => {
    const log = requestLog(gateway.log, received.id)
    log.warn({ cause: redactText(String(cause)) }, 'an accepted image job could not be read')
    return undefined
  })
  const known = {
    id: received.id,
    object: 'image.generation',
    status: 'queued',
    model: received.row.requestedModel,
  }
  send202(received, job ?? known, {
    location: `/v1/images/generations/${received.id}`,
    'retry-after': String(askAgainSeconds),
    ...headers,
  })
}

async function currentJob(gateway: JobGateway, request: JobRequest) {
  const [job] = await gateway.jobs.read([request.id])
  return job === undefined ? undefined : await jobWithPosition(gateway, originFor(request), job)
}

function send202(
  { id, exchange, headers }: JobRequest,
  json: object,
  jobHeaders: Record<string, string>,
): void {
  const { reply } = exchange
  if (reply.destroyed) return
  const body = Buffer.from(JSON.stringify(json))
  reply.writeHead(202, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': id,
    ...jobHeaders,
    ...headers,
  })
  reply.end(body)
}

/** Returns a job in the form that its own client is allowed to see. */
export async function jobWithPosition(gateway: JobGateway, origin: string, job: Job) {
  const position = job.state === 'queued' ? await gateway.jobs.positionOf(job) : null
  const { showsRouting } = gateway
  return jobJson(job, { position, linkTo: linkerFor(gateway, origin), showsRouting })
}

/** `origin`: before the path of each link, with or without a slash at its end. */
export function linkerFor(gateway: Pick<ImageGateway, 'images'>, origin: string): LinkTo {
  const now = Date.now()
  const base = origin.replace(/\/+$/, '')
  return (file) => `${base}${gateway.images.links.sign(file, now)}`
}
