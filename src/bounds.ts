import { z } from 'zod'

/** A whole number. */
export const count = (fallback: number, least = 1, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .refine((text) => /^\d{1,16}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number ${most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`}`,
    })
    .transform(Number)
    .default(fallback)

/** Beyond 31 bits a timer of Node's fires at once. */
export const milliseconds = (fallback: number, least = 1, most = 2 ** 31 - 1) => count(fallback, least, most)

const connections = (fallback: number) => count(fallback, 1, 1000)

const MiB = 1024 * 1024
const second = 1000

/**
 * Every bound of a process: its name, its default and what it may be. The environment has each under the same name in
 * capitals, such as `BODY_BYTES_MAX`.
 */
export const boundSettings = {
  bodyBytesMax: count(32 * MiB, 1024),
  /** Encoded bodies of requests that run now, decoded, all together. */
  decodedBytesMax: count(256 * MiB, 1024),
  headerBytesMax: count(64 * 1024, 4096),
  jsonDepthMax: count(128, 8, 2000),
  /** Keys and values in one body; parsing more would keep everybody waiting. */
  jsonValuesMax: count(250_000, 1000, 1_000_000_000),
  sseFrameBytesMax: count(4 * MiB, 1024),
  /** A whole answer up to this size is held and sent at once; a larger one is streamed through. */
  heldAnswerBytesMax: count(64 * 1024),
  /** A streamed-through answer beyond this is delivered, but its usage is estimated. */
  watchedAnswerBytesMax: count(32 * MiB),
  inFlightMax: count(10_000),
  requestReadMs: milliseconds(60 * second),
  /** Until the headers of a request are whole. */
  headerReadMs: milliseconds(20 * second),
  /** Open at once, whatever runs on them. */
  connectionsMax: count(20_000),
  upstreamConnectMs: milliseconds(10 * second),
  upstreamFirstByteMs: milliseconds(600 * second),
  upstreamIdleMs: milliseconds(120 * second),
  upstreamTotalMs: milliseconds(1800 * second),
  /** A translated stream that is silent for so long gets an event that means nothing. */
  keepAliveMs: milliseconds(15 * second, 10),
  attemptsMax: count(3, 1, 20),
  /** A channel that fails so many times in a row, or half of its last calls, is passed over for a while. */
  breakerFailures: count(5, 1, 1000),
  /** For how long at first; doubled each time, up to the next. */
  breakerOpenMs: milliseconds(5 * second),
  breakerOpenMsMax: milliseconds(60 * second),
  /** How long a credential that an upstream refuses is passed over, where the upstream does not say. */
  credentialRestMs: milliseconds(30 * second),
  /** The longest `retry-after` of an upstream that is believed. */
  retryAfterMsMax: milliseconds(600 * second),
  /** Redis is waited for so long, then limits are this process's own. */
  limitsMs: milliseconds(50),
  /** A running request that is not heard of for so long no longer counts as one. */
  limitsLeaseMs: milliseconds(30 * second, 200),
  /** How long a request waits for money that running requests hold. */
  budgetWaitMs: milliseconds(5 * second, 0),
  /** Sent to formats that demand a bound on the output when neither the client nor the model has one. */
  outputTokensDefault: count(8192, 16),
  drainOnShutdownMs: milliseconds(30 * second, 0),
  keyCacheMax: count(100_000, 1, 10_000_000),
  keyCacheNegativeMs: milliseconds(60 * second),
  revisionPollMs: milliseconds(400, 50, 1000),
  databaseWaitMs: milliseconds(60 * second),
  /** Connections to Postgres, by what they are for (db/database.ts). */
  moneyConnections: connections(3),
  keysConnections: connections(2),
  stateConnections: connections(2),
  answersConnections: connections(2),
  readsConnections: connections(3),
  jobsConnections: connections(4),
  /** Postgres ends a query of a tenant that runs for so long. */
  readsMs: milliseconds(20 * second, 100),
  admitMs: milliseconds(5 * second),
  captureBytesMax: count(32 * 1024, 0),
  captureStringBytesMax: count(8 * 1024, 64),
  journalSegmentBytes: count(16 * MiB, 64 * 1024),
  journalBytesMax: count(2048 * MiB, MiB),
  journalAlarmBytes: count(256 * MiB, 64 * 1024),
  shipIntervalMs: milliseconds(500, 1, 10_000),
  shipBatchBytes: count(8 * MiB, 64 * 1024),
  shipOnQueryMs: milliseconds(2 * second),
  instanceDeadMs: milliseconds(30 * second, 1000),
  requestRetentionDays: count(90, 1, 36_500),
  payloadRetentionDays: count(30, 1, 36_500),
  partitionsAheadDays: count(7, 1, 60),
  unauthenticatedRowsPerMinute: count(60),
  /** A client without `Prefer: respond-async` waits so long for its images, then gets the job. */
  imageWaitMs: milliseconds(90 * second, 0),
  /** Images that one worker process has made at once. */
  imageConcurrency: count(8, 1, 1000),
  /** A tenant's jobs in the queue at a time; the rest wait outside, so that all tenants get their turns. */
  imageQueueWindow: count(4, 1, 1000),
  imageBytesMax: count(64 * MiB, 1024),
  /** One upstream answer, all its images together. */
  imageAnswerBytesMax: count(256 * MiB, 1024),
  /** A worker that is not heard of for so long has lost its jobs to others. */
  imageLeaseMs: milliseconds(30 * second, 200),
  /** A job whose workers died, or whose channels failed, so many times fails. */
  imageRunsMax: count(5, 1, 100),
  /** First wait before a job is run again; doubled each time. */
  imageBackoffMs: milliseconds(second),
  imageSweepMs: milliseconds(2 * second, 50),
  /** Stored images are deleted on the day after these hours are over. */
  imageRetentionHours: count(24, 1, 100_000),
  /** A link to an image is good for so long. */
  imageLinkSeconds: count(3600, 1, 100_000_000),
  webhookMs: milliseconds(10 * second),
  webhookTriesMax: count(8, 1, 100),
  /** First wait before a webhook is tried again; doubled each time. */
  webhookBackoffMs: milliseconds(5 * second),
  /** A client that takes nothing of its answer for so long, or up to twice as long, is cut off. */
  clientStallMs: milliseconds(120 * second),
  /** A tenant's jobs that have not begun. */
  imageWaitingMax: count(100_000, 1, 10_000_000),
  idempotencyHours: count(24, 1, 100_000),
  /** A larger answer is not kept for repeats. */
  idempotentAnswerBytesMax: count(4 * MiB),
}

export type Bounds = Readonly<z.output<z.ZodObject<typeof boundSettings>>>
