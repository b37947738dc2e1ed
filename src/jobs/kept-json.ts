import { z } from 'zod'
import { optionalMember } from '../canonical/checked.ts'
import { priceParts, type Rates } from '../canonical/price-parts.ts'
import { reasonWords } from '../canonical/reasons/catalogue.ts'
import { errorKinds } from '../canonical/reasons/kinds.ts'
import type { Price, PriceCondition } from '../catalog/snapshot.ts'
import type { AttemptRecord } from '../journal/record.ts'
import { protocolNames } from '../protocols/protocol.ts'
import type { JobError, JobOpened, JobPartial, JobQuote, JobResult } from './job.ts'

/**
 * Schemas for the JSON text in a job's row, which another release may have written: new members have
 * defaults, and unknown enum values become known ones. Schemas of values that are written back, or become
 * part of a usage-log row, are loose, so that members from a newer release survive.
 */

const text = z.string()
const textOrNull = z.string().nullable()
const wholeOrNull = z.int().nullable()
const kind = z.enum(errorKinds).catch('internal')
const reason = z.enum(reasonWords).catch('internal_fault')
const protocol = z.enum(protocolNames).nullable().catch(null)

/** JSON has no bigint, so we write digits followed by an `n`. */
const nano = z
  .string()
  .regex(/^-?\d+n$/)
  .transform((digits) => BigInt(digits.slice(0, -1)))

const rateParts = Object.fromEntries(priceParts.map(({ name }) => [name, optionalMember(nano)]))

const rates: z.ZodType<Rates> = z.object(rateParts)

const priceCondition: z.ZodType<PriceCondition> = z.object({
  aboveInputTokens: z.int().exactOptional(),
  serviceTier: text.exactOptional(),
  since: z.int().exactOptional(),
  daily: z.object({ from: z.int(), to: z.int() }).exactOptional(),
})

const price: z.ZodType<Price> = z.object({
  id: text,
  ...rateParts,
  image: optionalMember(nano),
  imageRates: z.array(z.object({ size: optionalMember(text), quality: optionalMember(text), nano })),
  tiers: optionalMember(z.array(z.object({ when: priceCondition, rates }))),
  source: optionalMember(text),
})

export const keptQuote: z.ZodType<JobQuote> = z.object({
  price: optionalMember(price),
  multiplier: text,
  size: optionalMember(text),
  quality: optionalMember(text),
  count: z.int(),
  heldNano: optionalMember(nano),
  delivery: optionalMember(z.enum(['url', 'b64_json'])),
  stream: z.boolean(),
})

export const keptOpened: z.ZodType<JobOpened> = z.looseObject({
  id: text,
  tenantId: textOrNull,
  keyId: textOrNull,
  groupId: textOrNull,
  endpoint: text,
  clientProtocol: protocol,
  requestedModel: textOrNull,
  stream: z.boolean(),
  clientAddress: textOrNull,
  userAgent: textOrNull,
  idempotencyKey: textOrNull,
  reservedAccountId: textOrNull,
  capture: z.enum(['none', 'shape', 'content']),
  body: z.null(),
  traceparent: text.exactOptional(),
})

export const keptAttempts: z.ZodType<AttemptRecord[]> = z.array(
  z.looseObject({
    channel: text,
    upstreamProtocol: protocol,
    upstreamModel: textOrNull,
    reason: text,
    passedOver: z.boolean(),
    status: wholeOrNull,
    error: z.looseObject({ kind, message: text }).nullable(),
    firstByteMs: z.number().nullable(),
    totalMs: z.number().nullable(),
    upstreamRequestId: textOrNull,
  }),
)

export const keptPartials: z.ZodType<JobPartial[]> = z.array(
  z.looseObject({ file: text, index: z.int(), image: z.exactOptional(z.int()) }),
)

export const keptResult: z.ZodType<JobResult> = z.object({
  created: z.int(),
  images: z.array(
    z.object({
      file: text,
      contentType: text,
      bytes: z.int(),
      revisedPrompt: z.exactOptional(text),
    }),
  ),
  delivery: z.enum(['url', 'b64_json']),
  size: z.exactOptional(text),
  quality: z.exactOptional(text),
  background: z.exactOptional(text),
  outputFormat: z.exactOptional(text),
  usage: z.exactOptional(z.object({ inputTokens: z.number(), outputTokens: z.number() })),
})

export const keptError: z.ZodType<JobError> = z.object({
  kind,
  reason,
  message: text,
  field: z.exactOptional(text),
  code: z.exactOptional(text),
  retryAfterSeconds: z.exactOptional(z.number()),
})

/** The webhook of a job, which the row stores encrypted. */
export const keptWebhook = z.object({
  url: text,
  /** The origin of the links in the payload, without a trailing slash. */
  origin: text,
})

/**
 * Parses and checks stored JSON. Throws an Error for the log that names the invalid member. `what` describes
 * the text and contains the id of its job.
 */
export function readKept<Value>(schema: z.ZodType<Value>, json: string, what: string): Value {
  const read = schema.safeParse(JSON.parse(json))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(
    `the ${what} does not have the form that this release expects: ${issue?.path.join('.')}: ${issue?.message}`,
  )
}

/** The JSON text of a quote. */
export function quoteText(quote: JobQuote): string {
  return JSON.stringify(quote, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}
