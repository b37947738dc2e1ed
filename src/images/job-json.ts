import { z } from 'zod'
import { type Job, type JobResult, jobStates } from '../jobs/job.ts'
import { jobCalls, jobCallsJson, jobEnd, jobEndJson, jobTimes, jobTimesJson } from '../jobs/job-facts.ts'

const jobResult = z.object({
  created: z.int().describe('Seconds since the epoch.'),
  data: z.array(
    z.object({
      url: z.url().describe('Valid for a limited time; each read of the job returns a new URL.'),
      content_type: z.string(),
      bytes: z.int(),
      revised_prompt: z.string().optional(),
    }),
  ),
  size: z.string().nullable(),
  quality: z.string().nullable(),
  background: z.string().nullable(),
  output_format: z.string().nullable(),
  usage: z
    .object({ input_tokens: z.number(), output_tokens: z.number(), total_tokens: z.number() })
    .nullable(),
})

/** A job as seen by its client. */
export const imageJob = z
  .object({
    id: z.uuid().describe('The `x-request-id` of the request that created the job.'),
    object: z.literal('image.generation'),
    status: z.enum(jobStates),
    model: z.string(),
    n: z.int().describe('The number of images requested.'),
    ...jobTimes,
    position: z
      .int()
      .nullable()
      .describe(
        "The position among the tenant's waiting jobs, where 1 is next; null if the job is not waiting.",
      ),
    ...jobCalls,
    partial_images: z.array(z.object({ index: z.int(), url: z.url() })),
    result: jobResult.nullable(),
    ...jobEnd,
  })
  .meta({ id: 'ImageJob' })

/** The payload of a webhook for a job that has ended. */
export const imageWebhook = z
  .object({
    type: z
      .templateLiteral(['image.generation.', z.enum(jobStates)])
      .describe("`image.generation.` followed by the job's `status`."),
    timestamp: z.iso.datetime(),
    data: imageJob,
  })
  .meta({ id: 'ImageWebhook' })

/** Returns an absolute link to a stored image, which is valid for a limited time. */
export type LinkTo = (file: string) => string

/**
 * `position` is the position among the tenant's waiting jobs, or null if the job is not waiting.
 * `showsRouting` is whether the reader is allowed to see channels.
 */
export function jobJson(
  job: Job,
  { position, linkTo, showsRouting }: { position: number | null; linkTo: LinkTo; showsRouting: boolean },
): z.output<typeof imageJob> {
  return {
    id: job.id,
    object: 'image.generation',
    status: job.state,
    model: job.model,
    n: job.quote.count,
    ...jobTimesJson(job),
    position,
    ...jobCallsJson(job, showsRouting),
    partial_images: job.partials.map(({ file, index }) => ({ index, url: linkTo(file) })),
    result: job.result === null ? null : resultJson(job.result, linkTo),
    ...jobEndJson(job),
  }
}

/** Always uses links, even if the request asked for base64, because a client may read a job many times. */
function resultJson(result: JobResult, linkTo: LinkTo): z.output<typeof jobResult> {
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
