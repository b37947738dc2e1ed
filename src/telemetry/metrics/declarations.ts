/** One metric. Its name, help, labels and documentation come from here. */
export interface Declaration {
  type: 'counter' | 'gauge' | 'histogram'
  name: string
  help: string
  labels: readonly string[]
  /**
   * The most sets of label values in one process. Further ones share a set, in which each label is `other`.
   */
  setsMax: number
  /** Upper bounds. Empty: it is not a histogram. */
  buckets: readonly number[]
  /** How the values of several processes become one. */
  merge: 'sum' | 'max' | 'min'
  /** What is counted is this many times smaller than the unit in the name. */
  divisor: number
}

/** The most channels that have label values of their own, and the most models. */
export const namesMax = 100
/** One more for `other`, and one for `none`. */
const perName = namesMax + 2
/** More than the catalogue of reasons has. */
const reasonsMax = 300

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** All metrics. `docs/reference/metrics.md` has the same list. */
export const declared = {
  // What requests did. All of them are counted where the row of a request is written.
  requests: counter('tollgate_requests_total', 'Requests that ended.', {
    labels: ['endpoint', 'protocol', 'outcome', 'status_class', 'channel'],
    setsMax: 2_000,
  }),
  errors: counter(
    'tollgate_request_errors_total',
    'Requests that ended with an error, by its kind and reason.',
    {
      labels: ['kind', 'reason'],
      setsMax: reasonsMax,
    },
  ),
  duration: histogram(
    'tollgate_request_duration_seconds',
    'From the headers of a request to its end. A job counts from its acceptance.',
    seconds,
    { labels: ['endpoint', 'mode'], setsMax: 150 },
  ),
  beforeUpstream: histogram(
    'tollgate_request_queue_seconds',
    'From the headers of a request to its first call of an upstream.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
  ),
  firstToken: histogram(
    'tollgate_first_token_seconds',
    'From the headers of a request to the first token of its answer.',
    seconds,
    { labels: ['channel'], setsMax: perName },
  ),
  tokenRate: histogram(
    'tollgate_output_tokens_per_second',
    'Output tokens of a streamed answer, divided by the time from its first token to its end.',
    [1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000],
    { labels: ['channel'], setsMax: perName },
  ),
  tokens: counter('tollgate_tokens_total', 'Tokens of ended requests.', {
    labels: ['kind', 'channel', 'model'],
    setsMax: 2_500,
  }),
  images: counter('tollgate_images_total', 'Images that were delivered, or previewed by a failed job.', {
    labels: ['channel', 'model'],
    setsMax: 300,
  }),
  cost: counter('tollgate_cost_usd_total', 'Cost of ended requests.', {
    labels: ['channel', 'model'],
    setsMax: 500,
    divisor: 1e9,
  }),
  uncharged: counter(
    'tollgate_uncharged_usd_total',
    'The part of the cost that was not charged, because no more was held.',
    {
      labels: ['channel', 'model'],
      setsMax: 300,
      divisor: 1e9,
    },
  ),
  implausible: counter(
    'tollgate_usage_implausible_total',
    'Answers whose upstream reported more tokens than the request can have used.',
    { labels: ['channel'], setsMax: perName },
  ),
  unknownCost: counter('tollgate_requests_cost_unknown_total', 'Requests with unknown cost.', {
    labels: ['channel'],
    setsMax: perName,
  }),
  attempts: counter(
    'tollgate_attempts_total',
    'Calls of upstreams, by result: succeeded, or a kind of error.',
    {
      labels: ['channel', 'result'],
      setsMax: 1_000,
    },
  ),
  attemptFirstByte: histogram(
    'tollgate_attempt_first_byte_seconds',
    'From the call of an upstream to the first byte of its answer.',
    seconds,
    { labels: ['channel'], setsMax: perName },
  ),
  passedOver: counter(
    'tollgate_candidates_passed_over_total',
    'Candidates that were not called for a request.',
    {
      labels: ['channel'],
      setsMax: perName,
    },
  ),

  // Channels, as this process sees them.
  breakerOpen: gauge(
    'tollgate_channel_breaker_open',
    '1 while the breaker of a channel is open or half open in a process.',
    'max',
    { labels: ['channel'], setsMax: perName },
  ),
  breakerOpenings: counter(
    'tollgate_channel_breaker_openings_total',
    'Openings of the breaker of a channel.',
    {
      labels: ['channel'],
      setsMax: perName,
    },
  ),
  cooling: gauge(
    'tollgate_channel_credentials_cooling',
    'Credentials of a channel in a cooldown, by its reason.',
    'max',
    { labels: ['channel', 'why'], setsMax: 3 * perName },
  ),
  channelInFlight: gauge('tollgate_channel_in_flight', 'Calls that run on a channel.', 'sum', {
    labels: ['channel'],
    setsMax: perName,
  }),

  // Limits and money.
  limitsGranted: counter('tollgate_limits_granted_total', 'Decisions about limits that let a request go on.'),
  limitsRefused: counter('tollgate_limits_refused_total', 'Decisions about limits that refused a request.', {
    labels: ['scope', 'limit'],
    setsMax: 12,
  }),
  localDecisions: counter(
    'tollgate_limits_local_decisions_total',
    'Decisions about limits that a process made alone.',
  ),
  limitsShared: gauge('tollgate_limits_shared', '1 while all processes count limits together.', 'min'),
  holds: counter('tollgate_money_holds_total', 'Holds of money for requests, by verdict.', {
    labels: ['verdict'],
    setsMax: 8,
  }),
  heldUsd: counter('tollgate_money_held_usd_total', 'Money that was held for requests.', { divisor: 1e9 }),
  holdSeconds: histogram(
    'tollgate_money_hold_seconds',
    'Time that a request waited for its money.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),

  // The ledger.
  unshippedRows: gauge('tollgate_ledger_unshipped_rows', 'Rows that Postgres may not have yet.', 'sum'),
  unshippedBytes: gauge(
    'tollgate_ledger_unshipped_bytes',
    'Journal bytes that Postgres does not have.',
    'sum',
  ),
  oldestUnshipped: gauge(
    'tollgate_ledger_oldest_unshipped_seconds',
    'Age of the oldest journal bytes that Postgres does not have.',
    'max',
  ),
  journalBytes: gauge('tollgate_journal_bytes', 'Size of the journals on disk.', 'sum'),
  journalFill: gauge(
    'tollgate_journal_fill_ratio',
    'Size of the fullest journal, as a part of JOURNAL_BYTES_MAX.',
    'max',
  ),
  journals: gauge('tollgate_journals', 'Journals in the folder of this machine.', 'max'),
  setAside: gauge('tollgate_ledger_frames_set_aside', 'Frames in that folder that were set aside.', 'max'),
  adopting: gauge('tollgate_ledger_adopting', 'Journals of dead processes that are being adopted.', 'sum'),
  adoptionFailures: gauge(
    'tollgate_ledger_adoption_failures',
    'Journals of dead processes that cannot be adopted now.',
    'max',
  ),
  adopted: counter('tollgate_ledger_adopted_total', 'Journals of dead processes that were adopted.'),
  lateCommits: counter(
    'tollgate_ledger_late_commits_total',
    'Answers that were sent before Postgres had their rows, with DURABILITY=postgres.',
  ),
  answersDropped: counter('tollgate_answers_dropped_total', 'Captured answers that were not kept.'),
  postgresUp: gauge('tollgate_postgres_up', '1 while Postgres takes the journal.', 'min'),
  journalWritable: gauge('tollgate_journal_writable', '1 while the journal can be written.', 'min'),

  // Traces, where they are exported.
  traceSpans: counter('tollgate_trace_spans_total', 'Spans, by what became of them.', {
    labels: ['result'],
    setsMax: 3,
  }),
  traceWaiting: gauge('tollgate_trace_spans_waiting', 'Spans that wait for the collector.', 'sum'),

  // What all processes share. One of them asks Postgres.
  jobs: gauge('tollgate_jobs', 'Jobs that have not ended, up to 10000 of each state.', 'max', {
    labels: ['kind', 'state'],
    setsMax: 8,
  }),
  oldestJob: gauge('tollgate_job_oldest_seconds', 'Age of the oldest of these jobs.', 'max', {
    labels: ['kind', 'state'],
    setsMax: 8,
  }),
  webhooksDue: gauge('tollgate_webhooks_due', 'Webhooks of jobs that are due, up to 10000.', 'max'),
  reservedUsd: gauge('tollgate_money_reserved_usd', 'Money that running requests and jobs hold.', 'max', {
    divisor: 1e9,
  }),
  reservations: gauge('tollgate_money_reservations', 'Requests and jobs that hold money.', 'max'),
  sharedAge: gauge(
    'tollgate_database_read_age_seconds',
    'Time since jobs, webhooks and reservations were read from Postgres.',
    'min',
  ),

  // The processes.
  inFlight: gauge('tollgate_requests_in_flight', 'Requests that run.', 'sum'),
  connections: gauge('tollgate_connections', 'Open connections of clients.', 'sum'),
  sockets: gauge('tollgate_websockets', 'Open WebSockets of clients.', 'sum'),
  bodyBytes: gauge('tollgate_body_memory_bytes', 'Memory of the bodies of running requests.', 'sum'),
  bodyThreads: gauge('tollgate_body_threads', 'Threads for large bodies.', 'sum'),
  bodyThreadWaiting: gauge('tollgate_body_threads_waiting', 'Large bodies that wait for a thread.', 'sum'),
  bodyThreadJobs: counter('tollgate_body_thread_jobs_total', 'Jobs that threads for large bodies have done.'),
  draining: gauge('tollgate_draining', 'Processes that take no new work because they end.', 'sum'),
  loopDelay: gauge(
    'tollgate_event_loop_delay_seconds',
    'Delay of the event loop in the last 10 seconds, of the slowest process.',
    'max',
    { labels: ['statistic'], setsMax: 4 },
  ),
  loopBusy: counter('tollgate_event_loop_busy_seconds_total', 'Time in which event loops worked.', {
    divisor: 1_000,
  }),
  gcRatio: gauge(
    'tollgate_gc_time_ratio',
    'Part of the time that garbage collection took, in one second of every ten, of the process with the most.',
    'max',
  ),
  heapUsed: gauge('tollgate_heap_used_bytes', "Used memory of V8's heaps.", 'sum'),
  external: gauge('tollgate_external_memory_bytes', "Memory outside of V8's heaps that it knows of.", 'sum'),
  resident: gauge('process_resident_memory_bytes', 'Resident memory.', 'sum'),
  cpu: counter('process_cpu_seconds_total', 'User and system CPU time.', { divisor: 1e6 }),
  openFiles: gauge('process_open_fds', 'Open file descriptors.', 'sum'),
  openFilesMax: gauge('process_max_fds', 'The most file descriptors of one process.', 'min'),
  startedAt: gauge('process_start_time_seconds', 'Start of the oldest process, since the epoch.', 'min'),
  build: gauge('tollgate_build_info', 'Always 1.', 'max', {
    labels: ['version', 'node', 'role'],
    setsMax: 8,
  }),
  processes: gauge('tollgate_processes', 'Processes whose values are in this answer.', 'sum'),
  processesExpected: gauge('tollgate_processes_expected', 'Processes that should run: PROCESSES.', 'max'),
  leftOut: counter(
    'tollgate_processes_left_out_total',
    'Times that a process did not answer the supervisor within a second.',
  ),
  restarts: counter(
    'tollgate_process_restarts_total',
    'Processes that the supervisor started in place of others.',
  ),
  unnamed: counter(
    'tollgate_metrics_folded_total',
    'Times that a name or a set of label values was counted as other, because there are too many.',
  ),
} as const satisfies Record<string, Declaration>

/** The most series that one answer has. */
export const seriesMax = Object.values<Declaration>(declared).reduce(
  (sum, { setsMax, buckets }) => sum + (setsMax + 1) * (buckets.length === 0 ? 1 : buckets.length + 3),
  0,
)

interface Options {
  labels?: readonly string[]
  setsMax?: number
  divisor?: number
}

type Of<Type extends Declaration['type']> = Declaration & { type: Type }

function counter(name: string, help: string, options: Options = {}): Of<'counter'> {
  return { type: 'counter', name, help, merge: 'sum', buckets: [], ...withDefaults(options) }
}

function gauge(name: string, help: string, merge: Declaration['merge'], options: Options = {}): Of<'gauge'> {
  return { type: 'gauge', name, help, merge, buckets: [], ...withDefaults(options) }
}

function histogram(
  name: string,
  help: string,
  buckets: readonly number[],
  options: Options = {},
): Of<'histogram'> {
  return { type: 'histogram', name, help, merge: 'sum', buckets, ...withDefaults(options) }
}

function withDefaults({ labels = [], setsMax = 1, divisor = 1 }: Options) {
  return { labels, setsMax, divisor }
}
