import { z } from 'zod'
import { type Job, type JobResult, jobStates } from '../jobs/job.ts'
import { jobCalls, jobCallsJson, jobEnd, jobEndJson, jobTimes, jobTimesJson } from '../jobs/job-facts.ts'

const jobResult = z.object({
  created: z.int().describe('Seconds since the epoch.'),
  data: z.array(
    z.object({
      url: z.url().describe('Good for a while; each reading of the job gives new ones.'),
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

/** A job as its client sees it. */
export const imageJob = z
  .object({
    id: z.uuid().describe('The `x-request-id` of the request that asked for it.'),
    object: z.literal('image.generation'),
    status: z.enum(jobStates),
    model: z.string(),
    n: z.int().describe('Images asked for.'),
    ...jobTimes,
    position: z
      .int()
      .nullable()
      .describe("The place among the tenant's waiting jobs, 1 being next; null when it does not wait."),
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
      .describe("`image.generation.` and the job's `status`."),
    timestamp: z.iso.datetime(),
    data: imageJob,
  })
  .meta({ id: 'ImageWebhook' })

/** Makes a link to a stored image: absolute, and valid for a limited time. */
export type LinkTo = (file: string) => string

/**
 * `position`: its place among the tenant's waiting jobs; null when it does not wait. `showsRouting`: whether
 * its reader may know of channels.
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

/** Always with links, also when the request asked for bytes: a client may read a job many times. */
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
