import { z } from 'zod'

/** A variable that contains a whole number. */
export const count = (fallback: number, least = 1, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .refine((text) => /^\d{1,16}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number ${most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`}`,
    })
    .transform(Number)
    .default(fallback)

/** At most 31 bits, because a Node timer with a longer time fires immediately. */
export const milliseconds = (fallback: number, least = 1, most = 2 ** 31 - 1) => count(fallback, least, most)

const connections = (fallback: number) => count(fallback, 1, 1000)

const MiB = 1024 * 1024
const second = 1000

/**
 * All limits of a process with their names, defaults and ranges. The environment uses the same names in
 * capitals, such as `BODY_BYTES_MAX`.
 */
export const boundSettings = {
  bodyBytesMax: count(32 * MiB, 1024),
  /** The decoded size of all encoded request bodies of a process together. */
  decodedBytesMax: count(256 * MiB, 1024),
  /**
   * The total size of all request bodies that a process reads or holds, both as received and decoded, on
   * every transport.
   */
  bodiesBytesMax: count(512 * MiB, 1024),
  /** The same per key. 0: half of `bodiesBytesMax`, or `bodyBytesMax` if that is more. */
  keyBodiesBytesMax: count(0, 0),
  /** A body of at least this size is read, translated and redacted in a thread. */
  bodyThreadBytes: count(512 * 1024, 0),
  /** The number of threads for large bodies. 0: one less than the number of processors, but at least one. */
  bodyThreads: count(0, 0, 64),
  /** The number of large bodies that wait for a thread. A single key can have half of them. */
  bodyThreadWaitingMax: count(256),
  /**
   * The memory for the last conversations of all keys, which makes the next turn of one cost what it adds. 0:
   * none is remembered.
   */
  rememberedBodiesBytesMax: count(64 * MiB, 0),
  headerBytesMax: count(64 * 1024, 4096),
  jsonDepthMax: count(128, 8, 2000),
  /** The number of keys and values in a body. Parsing more would block the event loop for too long. */
  jsonValuesMax: count(250_000, 1000, 1_000_000_000),
  sseFrameBytesMax: count(4 * MiB, 1024),
  /**
   * A response that is not streamed is sent at once up to this size. A larger one is passed on as it arrives.
   */
  heldAnswerBytesMax: count(64 * 1024),
  /** A larger response is still sent to the client, but its usage is estimated. */
  watchedAnswerBytesMax: count(32 * MiB),
  inFlightMax: count(10_000),
  /** The same per key. 0: half of `inFlightMax`, so that no single key can use up the limit. */
  keyInFlightMax: count(0, 0),
  requestReadMs: milliseconds(60 * second),
  /** The maximum time until the headers of a request have arrived. */
  headerReadMs: milliseconds(20 * second),
  /** The number of open client connections, busy or idle. */
  connectionsMax: count(20_000),
  upstreamConnectMs: milliseconds(10 * second),
  upstreamFirstByteMs: milliseconds(600 * second),
  upstreamIdleMs: milliseconds(120 * second),
  upstreamTotalMs: milliseconds(1800 * second),
  /**
   * The size of one frame from an upstream called over a WebSocket, and of the data buffered from its
   * response.
   */
  upstreamFrameBytesMax: count(32 * MiB, 1024),
  /** The number of idle WebSockets to upstreams, per channel and credential. */
  upstreamIdleSocketsMax: count(64, 0),
  /**
   * An idle WebSocket is closed after `upstreamSocketIdleMs`, and accepts no requests once it is older than
   * `upstreamSocketAgeMs`.
   */
  upstreamSocketIdleMs: milliseconds(5 * 60 * second),
  upstreamSocketAgeMs: milliseconds(55 * 60 * second),
  /** The longest wait, after the end of a streamed response, for further data from the upstream. */
  streamTailMs: milliseconds(500, 0),
  /** How often a process reads the upstreams' own lists of models. 0: never. */
  modelListRefreshMs: milliseconds(600 * second, 0),
  /** The time, bytes and names of one list, including all its pages. */
  modelListMs: milliseconds(10 * second),
  modelListBytesMax: count(4 * MiB, 1024),
  modelListNamesMax: count(1000, 1, 100_000),
  /** A translated stream sends an empty event after the upstream has been silent for this long. */
  keepAliveMs: milliseconds(15 * second, 10),
  attemptsMax: count(3, 1, 20),
  /**
   * The number of consecutive failures after which a channel is passed over for a while. The same happens
   * when half of its last calls failed.
   */
  breakerFailures: count(5, 1, 1000),
  /** How long the first time. It doubles with each consecutive opening, up to `breakerOpenMsMax`. */
  breakerOpenMs: milliseconds(5 * second),
  breakerOpenMsMax: milliseconds(60 * second),
  /** A channel is also passed over if several calls are waiting and none was answered for this long. */
  breakerSilenceMs: milliseconds(120 * second),
  /** How long a refused credential is passed over if the upstream states no time. */
  credentialRestMs: milliseconds(30 * second),
  /** The longest `retry-after` from an upstream that is respected. */
  retryAfterMsMax: milliseconds(600 * second),
  /** The longest wait for Redis, after which the process decides about limits on its own. */
  limitsMs: milliseconds(50),
  /** A shared request counts as running for this long after its process last renewed it. */
  limitsLeaseMs: milliseconds(30 * second, 200),
  /** The longest wait of a request for money that running requests hold. */
  budgetWaitMs: milliseconds(5 * second, 0),
  /** The output limit to send if a format requires one but neither the client nor the model sets it. */
  outputTokensDefault: count(8192, 16),
  /**
   * How long a process still accepts requests after SIGTERM while `/readyz` returns 503, so that proxies stop
   * choosing it.
   */
  shutdownDelayMs: milliseconds(0, 0),
  drainOnShutdownMs: milliseconds(30 * second, 0),
  /** How long running requests may continue after an uncaught error before the process ends. */
  crashDrainMs: milliseconds(10 * second, 0),
  keyCacheMax: count(100_000, 1, 10_000_000),
  /**
   * If there are more keys, the process does not keep their hashes, and looks up every unknown key in
   * Postgres.
   */
  knownKeysMax: count(2_000_000, 0, 50_000_000),
  keyCacheNegativeMs: milliseconds(60 * second),
  revisionPollMs: milliseconds(400, 50, 1000),
  databaseWaitMs: milliseconds(60 * second),
  /** The numbers of connections to Postgres by purpose (db/database.ts). */
  moneyConnections: connections(3),
  keysConnections: connections(2),
  stateConnections: connections(2),
  answersConnections: connections(2),
  readsConnections: connections(3),
  logConnections: connections(3),
  jobsConnections: connections(4),
  adminConnections: connections(4),
  /** Postgres cancels a tenant's query that takes longer. */
  readsMs: milliseconds(20 * second, 100),
  /** An admin's query of the usage log returns after this time at the latest, with a cursor for the rest. */
  logQueryMs: milliseconds(2 * second, 100, 60 * second),
  /** The number of rows in one export of the usage log. */
  exportRowsMax: count(1_000_000, 1, 100_000_000),
  /**
   * The number of concurrent exports of the usage log per process. A single tenant or admin can have half of
   * them.
   */
  exportsMax: count(8, 1, 1000),
  admitMs: milliseconds(5 * second),
  /**
   * With DURABILITY=postgres: how long the end of a response waits at most for Postgres to commit its row.
   */
  durableMs: milliseconds(5 * second, 0),
  captureBytesMax: count(32 * 1024, 0),
  captureStringBytesMax: count(8 * 1024, 64),
  /**
   * The size of a response stored for later requests, together with what its request added to the
   * conversation.
   */
  keptAnswerBytesMax: count(16 * MiB, 1024),
  /** The size of the stored turns that one request sends again. */
  keptChainBytesMax: count(24 * MiB, 1024),
  /** The total size of everything that a tenant stores (src/db/schema/access.ts). */
  keptTenantBytesMax: count(2048 * MiB, 1024),
  /** A request cannot add to a conversation that has this many items. */
  conversationItemsMax: count(10_000, 1, 1_000_000),
  /** The number of conversations per tenant. */
  conversationsMax: count(100_000, 0, 10_000_000),
  /** The number of open WebSockets per process, and per key. */
  socketsMax: count(10_000, 0),
  keySocketsMax: count(1_000, 0),
  /** The size of one frame from a client. */
  socketFrameBytesMax: count(32 * MiB, 1024),
  /** The size of the state that a connection keeps about its newest response. */
  socketStateBytesMax: count(8 * MiB, 1024),
  /** The total size of the state of all connections of a process. Beyond it, no more state is kept. */
  socketStatesBytesMax: count(256 * MiB, 1024),
  /**
   * A client's WebSocket is closed after `socketIdleMs` without a request, and at the age of `socketAgeMs`.
   */
  socketIdleMs: milliseconds(15 * 60 * second, 100),
  socketAgeMs: milliseconds(60 * 60 * second, 100),
  /** The size of one captured response in the usage log. */
  captureAnswerBytesMax: count(64 * 1024, 1024),
  /** The number of bytes of one response to a client that are held for capturing it. The rest is left out. */
  captureAnswerHeldBytesMax: count(4 * MiB, 16 * 1024),
  /** The total size of all held responses of a process. */
  captureAnswersBytesMax: count(64 * MiB, 64 * 1024),
  journalSegmentBytes: count(16 * MiB, 64 * 1024),
  journalBytesMax: count(2048 * MiB, MiB),
  /**
   * How long a shipped segment stays on disk, in case Postgres loses its last commits, for example in a
   * failover.
   */
  journalKeepMs: milliseconds(60 * second, 0),
  /** If shipped segments use more space than this, the oldest are deleted earlier. */
  journalKeepBytesMax: count(512 * MiB, 0),
  journalAlarmBytes: count(256 * MiB, 64 * 1024),
  shipIntervalMs: milliseconds(500, 1, 10_000),
  shipBatchBytes: count(8 * MiB, 64 * 1024),
  shipOnQueryMs: milliseconds(2 * second),
  /** A process raises the alarm when its oldest unshipped row is older than this. */
  ledgerLagMsMax: milliseconds(60 * second, 1000),
  instanceDeadMs: milliseconds(30 * second, 1000),
  requestRetentionDays: count(90, 1, 36_500),
  payloadRetentionDays: count(30, 1, 36_500),
  answerRetentionDays: count(30, 1, 36_500),
  /** 0: charges are never deleted. */
  entryRetentionMonths: count(0, 0, 1200),
  /**
   * The number of whole days (UTC) that stay in Postgres. Older days are moved to the archive. 0: there is no
   * archive.
   */
  hotDays: count(0, 0, 36_500),
  /** How long archived days are kept. 0: `requestRetentionDays`. */
  archiveDays: count(0, 0, 36_500),
  /** DuckDB's memory in the process that reads the archive, and in the one that writes it. */
  archiveMemoryBytes: count(512 * MiB, 64 * MiB),
  archiveThreads: count(1, 1, 64),
  /** The size of local copies of archived files from a bucket. */
  archiveCacheBytes: count(4096 * MiB, 0),
  /** The maximum time of a query in the archive. */
  archiveReadMs: milliseconds(20 * second, 100),
  partitionsAheadDays: count(7, 1, 60),
  /**
   * How often new rows are added to the sums of the usage log. Until then, summaries read the rows in
   * addition to the sums.
   */
  rollupFoldMs: milliseconds(10 * second, 100, 600 * second),
  /** The number of days for which hourly sums are kept. Daily sums are never deleted. */
  rollupHoursDays: count(400, 32, 36_500),
  /** How often alert rules are evaluated. */
  alertMs: milliseconds(15 * second, 100, 600 * second),
  /** The number of rules of all tenants and operators together. */
  alertRulesMax: count(1000, 1, 10_000),
  /** The number of rules per tenant. */
  alertTenantRulesMax: count(50, 0, 1000),
  /** The number of open episodes per rule. Further subjects wait until one of them closes. */
  alertOpenMax: count(100, 1, 1000),
  /** The number of days for which closed episodes are kept. */
  alertEpisodeDays: count(365, 1, 36_500),
  unauthenticatedRowsPerMinute: count(60),
  /**
   * How long a client waits at most for its images without `Prefer: respond-async`. After that it gets the
   * job.
   */
  imageWaitMs: milliseconds(90 * second, 0),
  /** The number of image jobs that one worker process runs at once. */
  imageConcurrency: count(8, 1, 1000),
  /**
   * The number of a tenant's jobs in the queue at once. Its other jobs wait outside the queue, so that all
   * tenants get their turn.
   */
  imageQueueWindow: count(4, 1, 1000),
  imageBytesMax: count(64 * MiB, 1024),
  /** The size of one upstream response with all its images. */
  imageAnswerBytesMax: count(256 * MiB, 1024),
  /** How long after the last extension of a lease another worker can claim the job. */
  imageLeaseMs: milliseconds(30 * second, 200),
  /** The number of runs of a job that can end with a dead worker or failed channels before the job fails. */
  imageRunsMax: count(5, 1, 100),
  /** The pause before a job runs again. It doubles each time. */
  imageBackoffMs: milliseconds(second),
  imageSweepMs: milliseconds(2 * second, 50),
  /** Images are deleted on the day after they reach this age. */
  imageRetentionHours: count(24, 1, 100_000),
  /** The lifetime of a link to an image. */
  imageLinkSeconds: count(3600, 1, 100_000_000),
  /** Client files are deleted at this age at the latest. 0: no files are accepted. */
  fileDays: count(30, 0, 36_500),
  /** The size of one client file. */
  fileBytesMax: count(20 * MiB, 1),
  /** The total size of a tenant's files, and their number. */
  filesBytesPerTenant: count(1024 * MiB, 1),
  filesPerTenantMax: count(10_000, 1, 1_000_000),
  /** The number of references to files in one request. */
  filesPerRequestMax: count(32, 1, 1000),
  /** An upload that has not ended after this time is removed. */
  fileUploadMs: milliseconds(900 * second, 100),
  /** How often a worker removes files that clients can no longer see. */
  fileSweepMs: milliseconds(60 * second, 50),
  /** The number of background answers that one worker process generates at once. */
  backgroundConcurrency: count(32, 1, 10_000),
  /** The number of a tenant's background answers that wait outside the queue. */
  backgroundWaitingMax: count(10_000, 1, 10_000_000),
  /**
   * The number of runs that can end with a dead worker or failed channels before the first event, before the
   * answer fails.
   */
  backgroundRunsMax: count(5, 1, 100),
  /** The size of the events of one background answer. */
  backgroundEventBytesMax: count(64 * MiB, 1024),
  /**
   * How long the events of an answer, and an answer that failed or was cancelled, remain available after the
   * answer ended.
   */
  backgroundEventHours: count(24, 1, 100_000),
  webhookMs: milliseconds(10 * second),
  webhookTriesMax: count(8, 1, 100),
  /** The pause before a webhook is tried again. It doubles each time. */
  webhookBackoffMs: milliseconds(5 * second),
  /** The time between two scheduled probes of an offer. 0: probes run only when an admin requests one. */
  probeIntervalHours: count(0, 0, 100_000),
  /** The maximum cost of one probe run, in millionths of a USD. */
  probeMicroUsdMax: count(500_000),
  probeSweepMs: milliseconds(60 * second, 50),
  /** A connection is closed when its client has read nothing for this long, or twice as long at most. */
  clientStallMs: milliseconds(120 * second),
  /** The number of a tenant's jobs that wait outside the queue. */
  imageWaitingMax: count(100_000, 1, 10_000_000),
  /** The number of attempts to sign in to one account within `signInWindowSeconds`, across all processes. */
  signInAttemptsMax: count(10, 1, 1_000_000),
  /** The same per address. */
  signInAddressAttemptsMax: count(50, 1, 1_000_000),
  signInWindowSeconds: count(900, 1, 1_000_000),
  /**
   * The cost of hashing a new password: the base-2 logarithm of scrypt's N, and of the KiB that a hash uses.
   * Values below 15 are for tests.
   */
  signInHashCost: count(15, 10, 18),
  /** The age at which a session of the admin API ends. */
  sessionHours: count(168, 1, 100_000),
  /** How long a session of the admin API can be idle before it ends. */
  sessionIdleMinutes: count(720, 2, 1_000_000),
  /** The lifetime of the set-up link printed at the start, and of links to set a new password. */
  resetLinkMinutes: count(60, 1, 1_000_000),
  invitationHours: count(72, 1, 100_000),
  /** The number of log lines per second about refused or failed requests of callers with a key. */
  failureLinesPerSecond: count(50, 0, 1_000_000),
  /** The same for callers without a valid key. */
  unknownLinesPerSecond: count(5, 0, 1_000_000),
  idempotencyHours: count(24, 1, 100_000),
  /** A larger response is not stored for repeats of its request. */
  idempotentAnswerBytesMax: count(4 * MiB),
}

export type Bounds = Readonly<z.output<z.ZodObject<typeof boundSettings>>>
