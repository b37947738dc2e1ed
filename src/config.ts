import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** Everything the environment decides, read once. Every bound of the process has its name and default here. */
export interface Config {
  host: string
  port: number
  /** Embedded database, journal and, where we may keep one, the generated secret key. */
  dataDir: string
  /** Absent: an embedded Postgres is started below `dataDir`. */
  databaseUrl: string | undefined
  /** Path of gateway.yaml. Absent: the built-in demo channel. */
  gatewayConfig: string | undefined
  /** 32 bytes or more of key material: encrypts upstream credentials, peppers key hashes. */
  secretKey: string | undefined
  publicUrl: string | undefined
  /** What the process does: answer clients, make images, or both. */
  role: 'api' | 'worker' | 'all'
  /** Queues are on this Redis. Absent: they are on Postgres. */
  redisUrl: string | undefined
  /** Opens what admins see. Absent: nobody is one. */
  adminToken: string | undefined
  /** Whether webhooks may go to loopback and private addresses. */
  webhookPrivateAddresses: 'refuse' | 'allow'
  /** A bucket for images. Absent: they are files below `dataDir`. */
  s3Bucket: string | undefined
  /** Of a service other than Amazon's. */
  s3Endpoint: string | undefined
  s3Region: string
  /** Absent, with the next: whatever the AWS SDK finds by itself, such as the machine's role. */
  s3AccessKeyId: string | undefined
  s3SecretAccessKey: string | undefined
  /** Before every key in the bucket. */
  s3Prefix: string
  /** PEM files of a certificate chain and its key: the server then speaks HTTPS. Both or neither. */
  tlsCert: string | undefined
  tlsKey: string | undefined
  /** CIDR blocks of proxies whose forwarded headers are believed. Absent: nobody's are. */
  trustedProxies: readonly string[] | undefined
  /** `allow`: plain HTTP is answered wherever it comes from. */
  plainHttp: 'loopback' | 'allow'
  /** API processes that share the port. */
  processes: number
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** `process`: a row survives the death of the process; `disk`: the caller also waits for fdatasync. */
  journalSync: 'process' | 'disk'
  /** Values of `anthropic-beta` that are kept from upstreams. */
  deniedBetas: readonly string[] | undefined
  bounds: Bounds
}

export interface Bounds {
  bodyBytesMax: number
  /** Encoded bodies of requests that run now, decoded, all together. */
  decodedBytesMax: number
  headerBytesMax: number
  jsonDepthMax: number
  /** Keys and values in one body; parsing more would keep everybody waiting. */
  jsonValuesMax: number
  sseFrameBytesMax: number
  /** A whole answer up to this size is held and sent at once; a larger one is streamed through. */
  heldAnswerBytesMax: number
  /** A streamed-through answer beyond this is delivered, but its usage is estimated. */
  watchedAnswerBytesMax: number
  inFlightMax: number
  requestReadMs: number
  /** Until the headers of a request are whole. */
  headerReadMs: number
  /** Open at once, whatever runs on them. */
  connectionsMax: number
  upstreamConnectMs: number
  upstreamFirstByteMs: number
  upstreamIdleMs: number
  upstreamTotalMs: number
  /** A translated stream that is silent for so long gets an event that means nothing. */
  keepAliveMs: number
  attemptsMax: number
  /** A channel that fails so many times in a row, or half of its last calls, is passed over for a while. */
  breakerFailures: number
  /** For how long at first; doubled each time, up to the next. */
  breakerOpenMs: number
  breakerOpenMsMax: number
  /** How long a credential that an upstream refuses is passed over, where the upstream does not say. */
  credentialRestMs: number
  /** The longest `retry-after` of an upstream that is believed. */
  retryAfterMsMax: number
  /** Redis is waited for so long, then limits are this process's own. */
  limitsMs: number
  /** A running request that is not heard of for so long no longer counts as one. */
  limitsLeaseMs: number
  /** How long a request waits for money that running requests hold. */
  budgetWaitMs: number
  /** Sent to formats that demand a bound on the output when neither the client nor the model has one. */
  outputTokensDefault: number
  drainOnShutdownMs: number
  keyCacheMax: number
  keyCacheNegativeMs: number
  revisionPollMs: number
  databaseWaitMs: number
  /** Connections to Postgres, by what they are for (db/database.ts). */
  moneyConnections: number
  keysConnections: number
  stateConnections: number
  answersConnections: number
  readsConnections: number
  jobsConnections: number
  /** Postgres ends a query of a tenant that runs for so long. */
  readsMs: number
  admitMs: number
  captureBytesMax: number
  captureStringBytesMax: number
  journalSegmentBytes: number
  journalBytesMax: number
  journalAlarmBytes: number
  shipIntervalMs: number
  shipBatchBytes: number
  shipOnQueryMs: number
  instanceDeadMs: number
  requestRetentionDays: number
  payloadRetentionDays: number
  partitionsAheadDays: number
  unauthenticatedRowsPerMinute: number
  /** A client without `Prefer: respond-async` waits so long for its images, then gets the job. */
  imageWaitMs: number
  /** Images that one worker process has made at once. */
  imageConcurrency: number
  /** A tenant's jobs in the queue at a time; the rest wait outside, so that all tenants get their turns. */
  imageQueueWindow: number
  imageBytesMax: number
  /** One upstream answer, all its images together. */
  imageAnswerBytesMax: number
  /** A worker that is not heard of for so long has lost its jobs to others. */
  imageLeaseMs: number
  /** A job whose workers died, or whose channels failed, so many times fails. */
  imageRunsMax: number
  /** First wait before a job is run again; doubled each time. */
  imageBackoffMs: number
  imageSweepMs: number
  /** Stored images are deleted on the day after these hours are over. */
  imageRetentionHours: number
  /** A link to an image is good for so long. */
  imageLinkSeconds: number
  webhookMs: number
  webhookTriesMax: number
  /** First wait before a webhook is tried again; doubled each time. */
  webhookBackoffMs: number
  /** A client that takes nothing of its answer for so long, or up to twice as long, is cut off. */
  clientStallMs: number
  /** A tenant's jobs that have not begun. */
  imageWaitingMax: number
  idempotencyHours: number
  /** A larger answer is not kept for repeats. */
  idempotentAnswerBytesMax: number
}

const count = (fallback: number, least = 1, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .refine((text) => /^\d{1,16}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number ${most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`}`,
    })
    .transform(Number)
    .default(fallback)

/** Beyond 31 bits a timer of Node's fires at once. */
const milliseconds = (fallback: number, least = 1, most = 2 ** 31 - 1) => count(fallback, least, most)

const connections = (fallback: number) => count(fallback, 1, 1000)

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

/** Addresses and blocks of them, with commas between; an address is a block of its own. */
const addressBlocks = z.string().transform((text, context) => {
  const blocks = text.split(',').map((part) => part.trim())
  return blocks.flatMap((block) => {
    if (block === '') return []
    if (ipaddr.isValidCIDR(block)) return [block]
    if (ipaddr.isValid(block)) return [`${block}/${ipaddr.parse(block).kind() === 'ipv4' ? 32 : 128}`]
    const message = `must be addresses or blocks such as 10.0.0.0/8, with commas between them; "${block}" is none`
    context.addIssue({ code: 'custom', message })
    return []
  })
})

const MiB = 1024 * 1024
const second = 1000

/** The environment's names, their bounds and defaults. An empty string counts as absent. */
const variables = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: count(8787, 0, 65_535),
  DATA_DIR: z.string().default('.tollgate'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
  GATEWAY_CONFIG: z.string().optional(),
  SECRET_KEY: z.string().min(32, 'must have 32 characters or more (try: openssl rand -hex 32)').optional(),
  PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  ROLE: oneOf(['api', 'worker', 'all']).default('all'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must be a redis:// or rediss:// URL')
    .optional(),
  ADMIN_TOKEN: z.string().min(16, 'must have 16 characters or more').optional(),
  WEBHOOK_PRIVATE_ADDRESSES: oneOf(['refuse', 'allow']).default('refuse'),
  S3_BUCKET: z.string().optional(),
  S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  S3_PREFIX: z
    .string()
    .regex(/^[\w./-]*$/, 'must be letters, digits and ./_-')
    .default('tollgate/'),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
  TRUSTED_PROXIES: addressBlocks.optional(),
  PLAIN_HTTP: oneOf(['loopback', 'allow']).default('loopback'),
  PROCESSES: count(1, 1, 256),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  JOURNAL_SYNC: oneOf(['process', 'disk']).default('process'),
  DENIED_BETAS: z
    .string()
    .regex(/^[\w.-]+(\s*,\s*[\w.-]+)*$/, 'must be values of anthropic-beta, with commas between them')
    .transform((text) => text.split(',').map((value) => value.trim()))
    .optional(),

  BODY_BYTES_MAX: count(32 * MiB, 1024),
  DECODED_BYTES_MAX: count(256 * MiB, 1024),
  HEADER_BYTES_MAX: count(64 * 1024, 4096),
  JSON_DEPTH_MAX: count(128, 8, 2000),
  JSON_VALUES_MAX: count(250_000, 1000, 1_000_000_000),
  SSE_FRAME_BYTES_MAX: count(4 * MiB, 1024),
  HELD_ANSWER_BYTES_MAX: count(64 * 1024),
  WATCHED_ANSWER_BYTES_MAX: count(32 * MiB),
  IN_FLIGHT_MAX: count(10_000),
  REQUEST_READ_MS: milliseconds(60 * second),
  HEADER_READ_MS: milliseconds(20 * second),
  CONNECTIONS_MAX: count(20_000),
  UPSTREAM_CONNECT_MS: milliseconds(10 * second),
  UPSTREAM_FIRST_BYTE_MS: milliseconds(600 * second),
  UPSTREAM_IDLE_MS: milliseconds(120 * second),
  UPSTREAM_TOTAL_MS: milliseconds(1800 * second),
  KEEP_ALIVE_MS: milliseconds(15 * second, 10),
  ATTEMPTS_MAX: count(3, 1, 20),
  BREAKER_FAILURES: count(5, 1, 1000),
  BREAKER_OPEN_MS: milliseconds(5 * second),
  BREAKER_OPEN_MS_MAX: milliseconds(60 * second),
  CREDENTIAL_REST_MS: milliseconds(30 * second),
  RETRY_AFTER_MS_MAX: milliseconds(600 * second),
  LIMITS_MS: milliseconds(50),
  LIMITS_LEASE_MS: milliseconds(30 * second, 200),
  BUDGET_WAIT_MS: milliseconds(5 * second, 0),
  OUTPUT_TOKENS_DEFAULT: count(8192, 16),
  DRAIN_ON_SHUTDOWN_MS: milliseconds(30 * second, 0),
  KEY_CACHE_MAX: count(100_000, 1, 10_000_000),
  KEY_CACHE_NEGATIVE_MS: milliseconds(60 * second),
  REVISION_POLL_MS: milliseconds(400, 50, 1000),
  DATABASE_WAIT_MS: milliseconds(60 * second),
  MONEY_CONNECTIONS: connections(3),
  KEYS_CONNECTIONS: connections(2),
  STATE_CONNECTIONS: connections(2),
  ANSWERS_CONNECTIONS: connections(2),
  READS_CONNECTIONS: connections(3),
  JOBS_CONNECTIONS: connections(4),
  READS_MS: milliseconds(20 * second, 100),
  ADMIT_MS: milliseconds(5 * second),
  CAPTURE_BYTES_MAX: count(32 * 1024, 0),
  CAPTURE_STRING_BYTES_MAX: count(8 * 1024, 64),
  JOURNAL_SEGMENT_BYTES: count(16 * MiB, 64 * 1024),
  JOURNAL_BYTES_MAX: count(2048 * MiB, MiB),
  JOURNAL_ALARM_BYTES: count(256 * MiB, 64 * 1024),
  SHIP_INTERVAL_MS: milliseconds(500, 1, 10_000),
  SHIP_BATCH_BYTES: count(8 * MiB, 64 * 1024),
  SHIP_ON_QUERY_MS: milliseconds(2 * second),
  INSTANCE_DEAD_MS: milliseconds(30 * second, 1000),
  REQUEST_RETENTION_DAYS: count(90, 1, 36_500),
  PAYLOAD_RETENTION_DAYS: count(30, 1, 36_500),
  PARTITIONS_AHEAD_DAYS: count(7, 1, 60),
  UNAUTHENTICATED_ROWS_PER_MINUTE: count(60),

  IMAGE_WAIT_MS: milliseconds(90 * second, 0),
  IMAGE_CONCURRENCY: count(8, 1, 1000),
  IMAGE_QUEUE_WINDOW: count(4, 1, 1000),
  IMAGE_BYTES_MAX: count(64 * MiB, 1024),
  IMAGE_ANSWER_BYTES_MAX: count(256 * MiB, 1024),
  IMAGE_LEASE_MS: milliseconds(30 * second, 200),
  IMAGE_RUNS_MAX: count(5, 1, 100),
  IMAGE_BACKOFF_MS: milliseconds(second),
  IMAGE_SWEEP_MS: milliseconds(2 * second, 50),
  IMAGE_RETENTION_HOURS: count(24, 1, 100_000),
  IMAGE_LINK_SECONDS: count(3600, 1, 100_000_000),
  WEBHOOK_MS: milliseconds(10 * second),
  WEBHOOK_TRIES_MAX: count(8, 1, 100),
  WEBHOOK_BACKOFF_MS: milliseconds(5 * second),
  CLIENT_STALL_MS: milliseconds(120 * second),
  IMAGE_WAITING_MAX: count(100_000, 1, 10_000_000),
  IDEMPOTENCY_HOURS: count(24, 1, 100_000),
  IDEMPOTENT_ANSWER_BYTES_MAX: count(4 * MiB),
})

/** What has to fit together. */
const environment = variables.superRefine((e, context) => {
  const wrong = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message })
  if (e.TLS_CERT !== undefined && e.TLS_KEY === undefined) wrong('TLS_KEY', 'must be set where TLS_CERT is')
  if (e.TLS_KEY !== undefined && e.TLS_CERT === undefined) wrong('TLS_CERT', 'must be set where TLS_KEY is')
  if (e.DECODED_BYTES_MAX < e.BODY_BYTES_MAX)
    wrong('DECODED_BYTES_MAX', `must be BODY_BYTES_MAX (${e.BODY_BYTES_MAX}) or more`)
  const isSafe = e.TLS_CERT !== undefined || e.TRUSTED_PROXIES !== undefined || e.PLAIN_HTTP === 'allow'
  if (e.ROLE !== 'worker' && !isSafe && !isLoopback(e.HOST)) {
    wrong(
      'HOST',
      `${e.HOST} is not a loopback address, and keys would come to it as plain text: set TLS_CERT and TLS_KEY to serve HTTPS, TRUSTED_PROXIES to the addresses of a proxy that does, or PLAIN_HTTP=allow`,
    )
  }
})

function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

/**
 * Turn an environment into a frozen Config. Pure.
 * Throws an Error that lists every wrong variable and what it must be.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = environment.safeParse(present)
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`)
    throw new Error(`The environment has wrong values:\n${lines.join('\n')}`)
  }
  const e = parsed.data
  return Object.freeze({
    host: e.HOST,
    port: e.PORT,
    dataDir: e.DATA_DIR,
    databaseUrl: e.DATABASE_URL,
    gatewayConfig: e.GATEWAY_CONFIG,
    secretKey: e.SECRET_KEY,
    publicUrl: e.PUBLIC_URL,
    role: e.ROLE,
    redisUrl: e.REDIS_URL,
    adminToken: e.ADMIN_TOKEN,
    webhookPrivateAddresses: e.WEBHOOK_PRIVATE_ADDRESSES,
    s3Bucket: e.S3_BUCKET,
    s3Endpoint: e.S3_ENDPOINT,
    s3Region: e.S3_REGION,
    s3AccessKeyId: e.S3_ACCESS_KEY_ID,
    s3SecretAccessKey: e.S3_SECRET_ACCESS_KEY,
    s3Prefix: e.S3_PREFIX,
    tlsCert: e.TLS_CERT,
    tlsKey: e.TLS_KEY,
    trustedProxies: e.TRUSTED_PROXIES,
    plainHttp: e.PLAIN_HTTP,
    processes: e.PROCESSES,
    logLevel: e.LOG_LEVEL,
    journalSync: e.JOURNAL_SYNC,
    deniedBetas: e.DENIED_BETAS,
    bounds: Object.freeze({
      bodyBytesMax: e.BODY_BYTES_MAX,
      decodedBytesMax: e.DECODED_BYTES_MAX,
      headerBytesMax: e.HEADER_BYTES_MAX,
      jsonDepthMax: e.JSON_DEPTH_MAX,
      jsonValuesMax: e.JSON_VALUES_MAX,
      sseFrameBytesMax: e.SSE_FRAME_BYTES_MAX,
      heldAnswerBytesMax: e.HELD_ANSWER_BYTES_MAX,
      watchedAnswerBytesMax: e.WATCHED_ANSWER_BYTES_MAX,
      inFlightMax: e.IN_FLIGHT_MAX,
      requestReadMs: e.REQUEST_READ_MS,
      headerReadMs: e.HEADER_READ_MS,
      connectionsMax: e.CONNECTIONS_MAX,
      upstreamConnectMs: e.UPSTREAM_CONNECT_MS,
      upstreamFirstByteMs: e.UPSTREAM_FIRST_BYTE_MS,
      upstreamIdleMs: e.UPSTREAM_IDLE_MS,
      upstreamTotalMs: e.UPSTREAM_TOTAL_MS,
      keepAliveMs: e.KEEP_ALIVE_MS,
      attemptsMax: e.ATTEMPTS_MAX,
      breakerFailures: e.BREAKER_FAILURES,
      breakerOpenMs: e.BREAKER_OPEN_MS,
      breakerOpenMsMax: e.BREAKER_OPEN_MS_MAX,
      credentialRestMs: e.CREDENTIAL_REST_MS,
      retryAfterMsMax: e.RETRY_AFTER_MS_MAX,
      limitsMs: e.LIMITS_MS,
      limitsLeaseMs: e.LIMITS_LEASE_MS,
      budgetWaitMs: e.BUDGET_WAIT_MS,
      outputTokensDefault: e.OUTPUT_TOKENS_DEFAULT,
      drainOnShutdownMs: e.DRAIN_ON_SHUTDOWN_MS,
      keyCacheMax: e.KEY_CACHE_MAX,
      keyCacheNegativeMs: e.KEY_CACHE_NEGATIVE_MS,
      revisionPollMs: e.REVISION_POLL_MS,
      databaseWaitMs: e.DATABASE_WAIT_MS,
      moneyConnections: e.MONEY_CONNECTIONS,
      keysConnections: e.KEYS_CONNECTIONS,
      stateConnections: e.STATE_CONNECTIONS,
      answersConnections: e.ANSWERS_CONNECTIONS,
      readsConnections: e.READS_CONNECTIONS,
      jobsConnections: e.JOBS_CONNECTIONS,
      readsMs: e.READS_MS,
      admitMs: e.ADMIT_MS,
      captureBytesMax: e.CAPTURE_BYTES_MAX,
      captureStringBytesMax: e.CAPTURE_STRING_BYTES_MAX,
      journalSegmentBytes: e.JOURNAL_SEGMENT_BYTES,
      journalBytesMax: e.JOURNAL_BYTES_MAX,
      journalAlarmBytes: e.JOURNAL_ALARM_BYTES,
      shipIntervalMs: e.SHIP_INTERVAL_MS,
      shipBatchBytes: e.SHIP_BATCH_BYTES,
      shipOnQueryMs: e.SHIP_ON_QUERY_MS,
      instanceDeadMs: e.INSTANCE_DEAD_MS,
      requestRetentionDays: e.REQUEST_RETENTION_DAYS,
      payloadRetentionDays: e.PAYLOAD_RETENTION_DAYS,
      partitionsAheadDays: e.PARTITIONS_AHEAD_DAYS,
      unauthenticatedRowsPerMinute: e.UNAUTHENTICATED_ROWS_PER_MINUTE,
      imageWaitMs: e.IMAGE_WAIT_MS,
      imageConcurrency: e.IMAGE_CONCURRENCY,
      imageQueueWindow: e.IMAGE_QUEUE_WINDOW,
      imageBytesMax: e.IMAGE_BYTES_MAX,
      imageAnswerBytesMax: e.IMAGE_ANSWER_BYTES_MAX,
      imageLeaseMs: e.IMAGE_LEASE_MS,
      imageRunsMax: e.IMAGE_RUNS_MAX,
      imageBackoffMs: e.IMAGE_BACKOFF_MS,
      imageSweepMs: e.IMAGE_SWEEP_MS,
      imageRetentionHours: e.IMAGE_RETENTION_HOURS,
      imageLinkSeconds: e.IMAGE_LINK_SECONDS,
      webhookMs: e.WEBHOOK_MS,
      webhookTriesMax: e.WEBHOOK_TRIES_MAX,
      webhookBackoffMs: e.WEBHOOK_BACKOFF_MS,
      clientStallMs: e.CLIENT_STALL_MS,
      imageWaitingMax: e.IMAGE_WAITING_MAX,
      idempotencyHours: e.IDEMPOTENCY_HOURS,
      idempotentAnswerBytesMax: e.IDEMPOTENT_ANSWER_BYTES_MAX,
    }),
  })
}

/** The Config of this process's own environment, and that environment for gateway.yaml's `${NAME}`. */
export function configFromEnvironment(): { config: Config; environment: Record<string, string | undefined> } {
  return { config: readConfig(process.env), environment: { ...process.env } }
}
