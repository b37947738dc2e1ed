import type { ImageJob, JobResult } from './job.ts'

/** A link to a stored image, absolute, good for a while. */
export type LinkTo = (file: string) => string

/** A job as its client sees it. `position`: its place among the tenant's waiting jobs; null when it does not wait. */
export function jobJson(job: ImageJob, position: number | null, linkTo: LinkTo) {
  return {
    id: job.id,
    object: 'image.generation',
    status: job.state,
    model: job.model,
    n: job.quote.count,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
    position,
    attempts: job.attempts.map(({ channel, status, error, totalMs }) => ({
      channel,
      status,
      error: error === null ? null : { kind: error.kind, message: error.message },
      total_ms: totalMs,
    })),
    latency_ms: {
      queue: job.startedAt === null ? null : Math.max(0, job.startedAt.getTime() - job.createdAt.getTime()),
      total: job.finishedAt === null ? null : Math.max(0, job.finishedAt.getTime() - job.createdAt.getTime()),
    },
    partial_images: job.partials.map(({ file, index }) => ({ index, url: linkTo(file) })),
    result: job.result === null ? null : resultJson(job.result, linkTo),
    error: job.error === null ? null : { kind: job.error.kind, message: job.error.message },
    cost_nano_usd: job.costNano === null ? null : String(job.costNano),
    webhook: job.webhookState === null ? null : { status: job.webhookState, tries: job.webhookTries },
  }
}

/** Always with links, whatever the request asked for: a job may be read many times. */
function resultJson(result: JobResult, linkTo: LinkTo) {
  return {
    created: result.created,
    data: result.images.map(({ file, contentType, bytes, revisedPrompt }) => ({
      url: linkTo(file),
      content_type: contentType,
      bytes,
      ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
    })),
    size: result.size ?? null,
    quality: result.quality ?? null,
    background: result.background ?? null,
    output_format: result.outputFormat ?? null,
    usage:
      result.usage === undefined
        ? null
        : {
            input_tokens: result.usage.inputTokens,
            output_tokens: result.usage.outputTokens,
            total_tokens: result.usage.inputTokens + result.usage.outputTokens,
          },
  }
}
