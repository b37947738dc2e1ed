import { z } from 'zod'

/** A variable that holds a whole number. */
export const count = (fallback: number, least = 1, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .refine((text) => /^\d{1,16}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number ${most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`}`,
    })
    .transform(Number)
    .default(fallback)

/** At most 31 bits: with a longer time, a timer of Node fires at once. */
export const milliseconds = (fallback: number, least = 1, most = 2 ** 31 - 1) => count(fallback, least, most)

const connections = (fallback: number) => count(fallback, 1, 1000)

const MiB = 1024 * 1024
const second = 1000

/**
 * Every bound of a process: its name, its default and its range. The environment has each under the same name
 * in capitals, such as `BODY_BYTES_MAX`.
 */
export const boundSettings = {
  bodyBytesMax: count(32 * MiB, 1024),
  /** Decoded size of all encoded request bodies of a process together. */
  decodedBytesMax: count(256 * MiB, 1024),
  /**
   * Size of all request bodies that a process reads or holds, as they came and decoded, whatever brings them.
   */
  bodiesBytesMax: count(512 * MiB, 1024),
  /** Of one key. 0: half of `bodiesBytesMax`, or `bodyBytesMax` where that is more. */
  keyBodiesBytesMax: count(0, 0),
  /** A body of this size or more is read, translated and redacted in a thread. */
  bodyThreadBytes: count(512 * 1024, 0),
  /** Threads for large bodies. 0: one less than the processors, and at least one. */
  bodyThreads: count(0, 0, 64),
  /** Large bodies that wait for a thread. One key may have half of them. */
  bodyThreadWaitingMax: count(256),
  headerBytesMax: count(64 * 1024, 4096),
  jsonDepthMax: count(128, 8, 2000),
  /** Keys and values in one body: parsing more would block the event loop for too long. */
  jsonValuesMax: count(250_000, 1000, 1_000_000_000),
  sseFrameBytesMax: count(4 * MiB, 1024),
  /** A whole answer up to this size goes out at once. A larger one is passed on while it arrives. */
  heldAnswerBytesMax: count(64 * 1024),
  /** The client gets a larger answer too, but we estimate its usage. */
  watchedAnswerBytesMax: count(32 * MiB),
  inFlightMax: count(10_000),
  /** Of one key. 0: half of `inFlightMax`, so that no key can take all places. */
  keyInFlightMax: count(0, 0),
  requestReadMs: milliseconds(60 * second),
  /** Time until the headers of a request have come. */
  headerReadMs: milliseconds(20 * second),
  /** Open connections of clients, busy or not. */
  connectionsMax: count(20_000),
  upstreamConnectMs: milliseconds(10 * second),
  upstreamFirstByteMs: milliseconds(600 * second),
  upstreamIdleMs: milliseconds(120 * second),
  upstreamTotalMs: milliseconds(1800 * second),
  /** One frame of an upstream that is called by WebSocket, and what is held of its answer. */
  upstreamFrameBytesMax: count(32 * MiB, 1024),
  /** WebSockets to upstreams that wait for a request, of each channel and credential. */
  upstreamIdleSocketsMax: count(64, 0),
  /** Such a WebSocket closes after this time without a request, and takes none from this age on. */
  upstreamSocketIdleMs: milliseconds(5 * 60 * second),
  upstreamSocketAgeMs: milliseconds(55 * 60 * second),
  /** After the end of a streamed answer: longest wait for what the upstream sends after it. */
  streamTailMs: milliseconds(500, 0),
  /** How often a process reads the upstreams' own lists of models. 0: never. */
  modelListRefreshMs: milliseconds(600 * second, 0),
  /** One list: its time, its bytes and its names, with all its pages. */
  modelListMs: milliseconds(10 * second),
  modelListBytesMax: count(4 * MiB, 1024),
  modelListNamesMax: count(1000, 1, 100_000),
  /** After this silence of the upstream, a translated stream gets an empty event. */
  keepAliveMs: milliseconds(15 * second, 10),
  attemptsMax: count(3, 1, 20),
  /**
   * Failures in a row after which we pass a channel over for a while. Failures of half of its last calls do
   * the same.
   */
  breakerFailures: count(5, 1, 1000),
  /** How long at first. It doubles with each opening in a row, up to `breakerOpenMsMax`. */
  breakerOpenMs: milliseconds(5 * second),
  breakerOpenMsMax: milliseconds(60 * second),
  /** Several calls wait, and none was answered for this time: we pass the channel over as after failures. */
  breakerSilenceMs: milliseconds(120 * second),
  /** How long we pass over a credential that an upstream refused, if the upstream names no time. */
  credentialRestMs: milliseconds(30 * second),
  /** The longest `retry-after` of an upstream that we follow. */
  retryAfterMsMax: milliseconds(600 * second),
  /** Longest wait for Redis. Then the process decides about limits alone. */
  limitsMs: milliseconds(50),
  /** A shared request counts as running for this long after its process last renewed it. */
  limitsLeaseMs: milliseconds(30 * second, 200),
  /** Longest wait of a request for money that running requests hold. */
  budgetWaitMs: milliseconds(5 * second, 0),
  /** The bound on the output that we send if a format requires one and neither client nor model has one. */
  outputTokensDefault: count(8192, 16),
  /**
   * After SIGTERM: how long a process still takes requests while `/readyz` answers 503, so that proxies stop
   * choosing it.
   */
  shutdownDelayMs: milliseconds(0, 0),
  drainOnShutdownMs: milliseconds(30 * second, 0),
  /** After an error that nothing caught: how long running requests may go on before the process ends. */
  crashDrainMs: milliseconds(10 * second, 0),
  keyCacheMax: count(100_000, 1, 10_000_000),
  /** With more keys, the process does not keep their hashes, and looks up every unknown key in Postgres. */
  knownKeysMax: count(2_000_000, 0, 50_000_000),
  keyCacheNegativeMs: milliseconds(60 * second),
  revisionPollMs: milliseconds(400, 50, 1000),
  databaseWaitMs: milliseconds(60 * second),
  /** Connections to Postgres, by purpose (db/database.ts). */
  moneyConnections: connections(3),
  keysConnections: connections(2),
  stateConnections: connections(2),
  answersConnections: connections(2),
  readsConnections: connections(3),
  logConnections: connections(3),
  jobsConnections: connections(4),
  adminConnections: connections(4),
  /** Postgres ends a longer query of a tenant. */
  readsMs: milliseconds(20 * second, 100),
  /**
   * A query of an admin over the usage log answers after this time at the latest, with a cursor for the rest.
   */
  logQueryMs: milliseconds(2 * second, 100, 60 * second),
  /** Rows of one export of the usage log. */
  exportRowsMax: count(1_000_000, 1, 100_000_000),
  /** Exports of the usage log that a process sends at a time. One tenant or admin may have half of them. */
  exportsMax: count(8, 1, 1000),
  admitMs: milliseconds(5 * second),
  /** With DURABILITY=postgres: longest wait of the end of an answer until Postgres has its row. */
  durableMs: milliseconds(5 * second, 0),
  captureBytesMax: count(32 * 1024, 0),
  captureStringBytesMax: count(8 * 1024, 64),
  /** One answer that is kept for later requests, with what its request added to the conversation. */
  keptAnswerBytesMax: count(16 * MiB, 1024),
  /** The kept turns that one request sends again. */
  keptChainBytesMax: count(24 * MiB, 1024),
  /** All that one tenant leaves in storage (src/db/schema/access.ts). */
  keptTenantBytesMax: count(2048 * MiB, 1024),
  /** A request adds to no conversation with this many items. */
  conversationItemsMax: count(10_000, 1, 1_000_000),
  /** Conversations of one tenant. */
  conversationsMax: count(100_000, 0, 10_000_000),
  /** WebSockets of a process that are open at a time, and those of one key. */
  socketsMax: count(10_000, 0),
  keySocketsMax: count(1_000, 0),
  /** One frame of a client. */
  socketFrameBytesMax: count(32 * MiB, 1024),
  /** What a connection remembers of its newest answer. */
  socketStateBytesMax: count(8 * MiB, 1024),
  /** What all connections of a process remember. Beyond it no more is remembered. */
  socketStatesBytesMax: count(256 * MiB, 1024),
  /** A WebSocket closes after this time without a request, and at this age. */
  socketIdleMs: milliseconds(15 * 60 * second, 100),
  socketAgeMs: milliseconds(60 * 60 * second, 100),
  /** One captured answer, as the usage log keeps it. */
  captureAnswerBytesMax: count(64 * 1024, 1024),
  /** The bytes of one answer to a client that are held to capture it. Its rest is left out. */
  captureAnswerHeldBytesMax: count(4 * MiB, 16 * 1024),
  /** All held answers of a process. */
  captureAnswersBytesMax: count(64 * MiB, 64 * 1024),
  journalSegmentBytes: count(16 * MiB, 64 * 1024),
  journalBytesMax: count(2048 * MiB, MiB),
  /**
   * A shipped segment stays on disk for this time, in case Postgres loses its last commits, as after a
   * failover.
   */
  journalKeepMs: milliseconds(60 * second, 0),
  /** While shipped segments take more than this, the oldest go sooner. */
  journalKeepBytesMax: count(512 * MiB, 0),
  journalAlarmBytes: count(256 * MiB, 64 * 1024),
  shipIntervalMs: milliseconds(500, 1, 10_000),
  shipBatchBytes: count(8 * MiB, 64 * 1024),
  shipOnQueryMs: milliseconds(2 * second),
  /** When its oldest unshipped row is older, a process raises the alarm. */
  ledgerLagMsMax: milliseconds(60 * second, 1000),
  instanceDeadMs: milliseconds(30 * second, 1000),
  requestRetentionDays: count(90, 1, 36_500),
  payloadRetentionDays: count(30, 1, 36_500),
  answerRetentionDays: count(30, 1, 36_500),
  /** 0: charges are never deleted. */
  entryRetentionMonths: count(0, 0, 1200),
  /** Whole days (UTC) that stay in Postgres; older ones go to the archive. 0: there is no archive. */
  hotDays: count(0, 0, 36_500),
  /** Archived days are deleted after it. 0: `requestRetentionDays`. */
  archiveDays: count(0, 0, 36_500),
  /** Memory of DuckDB in the process that reads the archive, and in the one that writes it. */
  archiveMemoryBytes: count(512 * MiB, 64 * MiB),
  archiveThreads: count(1, 1, 64),
  /** Local copies of archived files of a bucket. */
  archiveCacheBytes: count(4096 * MiB, 0),
  /** Longest time of one query in the archive. */
  archiveReadMs: milliseconds(20 * second, 100),
  partitionsAheadDays: count(7, 1, 60),
  /**
   * How often the sums of the usage log take in what rows have added. Until then summaries read that beside
   * them.
   */
  rollupFoldMs: milliseconds(10 * second, 100, 600 * second),
  /** Days for which sums by hour are kept. Those by day are never deleted. */
  rollupHoursDays: count(400, 32, 36_500),
  /** How often the rules of alerts are evaluated. */
  alertMs: milliseconds(15 * second, 100, 600 * second),
  /** Rules of all tenants and operators together. */
  alertRulesMax: count(1000, 1, 10_000),
  /** Rules of one tenant. */
  alertTenantRulesMax: count(50, 0, 1000),
  /** Open episodes of one rule. Further subjects wait until one of them closes. */
  alertOpenMax: count(100, 1, 1000),
  /** Days for which closed episodes are kept. */
  alertEpisodeDays: count(365, 1, 36_500),
  unauthenticatedRowsPerMinute: count(60),
  /** Longest wait of a client for its images, without `Prefer: respond-async`. Then it gets the job. */
  imageWaitMs: milliseconds(90 * second, 0),
  /** Image jobs that one worker process runs at once. */
  imageConcurrency: count(8, 1, 1000),
  /**
   * A tenant's jobs in the queue at a time. Its other jobs wait outside, so that all tenants get their turns.
   */
  imageQueueWindow: count(4, 1, 1000),
  imageBytesMax: count(64 * MiB, 1024),
  /** One upstream answer with all its images. */
  imageAnswerBytesMax: count(256 * MiB, 1024),
  /** Another worker may take a job this long after its worker last extended the lease. */
  imageLeaseMs: milliseconds(30 * second, 200),
  /** Runs of a job that may end by a dead worker or by failed channels. Then the job fails. */
  imageRunsMax: count(5, 1, 100),
  /** Pause before a job runs again. It doubles each time. */
  imageBackoffMs: milliseconds(second),
  imageSweepMs: milliseconds(2 * second, 50),
  /** Images are deleted on the day after they have reached this age. */
  imageRetentionHours: count(24, 1, 100_000),
  /** Lifetime of a link to an image. */
  imageLinkSeconds: count(3600, 1, 100_000_000),
  /** Files of clients are deleted at this age at the latest. 0: there are none. */
  fileDays: count(30, 0, 36_500),
  /** One file of a client. */
  fileBytesMax: count(20 * MiB, 1),
  /** All files of a tenant: their bytes, and how many there are. */
  filesBytesPerTenant: count(1024 * MiB, 1),
  filesPerTenantMax: count(10_000, 1, 1_000_000),
  /** Places of one request that name files. */
  filesPerRequestMax: count(32, 1, 1000),
  /** An upload that has not ended after this time is removed. */
  fileUploadMs: milliseconds(900 * second, 100),
  /** How often a worker removes files that are gone for their clients. */
  fileSweepMs: milliseconds(60 * second, 50),
  /** Answers in the background that one worker process makes at once. */
  backgroundConcurrency: count(32, 1, 10_000),
  /** Those of a tenant that wait outside of the queue. */
  backgroundWaitingMax: count(10_000, 1, 10_000_000),
  /**
   * Runs that may end by a dead worker or by failed channels before the first event. Then the answer fails.
   */
  backgroundRunsMax: count(5, 1, 100),
  /** The events of one answer in the background. */
  backgroundEventBytesMax: count(64 * MiB, 1024),
  /**
   * How long after its end the events of an answer can be had again, and an answer that failed or was
   * cancelled.
   */
  backgroundEventHours: count(24, 1, 100_000),
  webhookMs: milliseconds(10 * second),
  webhookTriesMax: count(8, 1, 100),
  /** Pause before a webhook is tried again. It doubles each time. */
  webhookBackoffMs: milliseconds(5 * second),
  /** Time between two probes of an offer by schedule. 0: probes run only when an admin asks for one. */
  probeIntervalHours: count(0, 0, 100_000),
  /** The most that one run of a probe may cost, in millionths of a USD. */
  probeMicroUsdMax: count(500_000),
  probeSweepMs: milliseconds(60 * second, 50),
  /** We close a connection whose client has read nothing for this long, at the latest for twice as long. */
  clientStallMs: milliseconds(120 * second),
  /** A tenant's jobs that wait outside of the queue. */
  imageWaitingMax: count(100_000, 1, 10_000_000),
  /** Attempts to sign in to one account in `signInWindowSeconds`, over all processes. */
  signInAttemptsMax: count(10, 1, 1_000_000),
  /** The same from one address. */
  signInAddressAttemptsMax: count(50, 1, 1_000_000),
  signInWindowSeconds: count(900, 1, 1_000_000),
  /**
   * The hash of a new password: the logarithm to base 2 of the N of scrypt, and of the KiB that one takes.
   * Less than 15 is for tests.
   */
  signInHashCost: count(15, 10, 18),
  /** A session of the admin API ends at this age. */
  sessionHours: count(168, 1, 100_000),
  /** A session of the admin API ends when it was not used for this long. */
  sessionIdleMinutes: count(720, 2, 1_000_000),
  /** Lifetime of the set-up link that a start prints, and of a link that sets a new password. */
  resetLinkMinutes: count(60, 1, 1_000_000),
  invitationHours: count(72, 1, 100_000),
  /** Lines of one second about refused or failed requests of callers with a key. */
  failureLinesPerSecond: count(50, 0, 1_000_000),
  /** The same of callers without a good key. */
  unknownLinesPerSecond: count(5, 0, 1_000_000),
  idempotencyHours: count(24, 1, 100_000),
  /** A larger answer is not kept for repeats of its request. */
  idempotentAnswerBytesMax: count(4 * MiB),
}

export type Bounds = Readonly<z.output<z.ZodObject<typeof boundSettings>>>
