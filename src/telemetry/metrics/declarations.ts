/** Declares one metric: its name, help, labels and documentation. */
export interface Declaration {
  type: 'counter' | 'gauge' | 'histogram'
  name: string
  help: string
  labels: readonly string[]
  /**
   * The maximum number of label value sets in one process. Any further ones share a set in which every label
   * is `other`.
   */
  setsMax: number
  /** The upper bounds; empty if the metric is not a histogram. */
  buckets: readonly number[]
  /** How the values of several processes are combined. */
  merge: 'sum' | 'max' | 'min'
  /** How many counted units make one unit of the metric's name. */
  divisor: number
}

/** The maximum number of channels, and of models, that get their own label values. */
export const namesMax = 100
/** One more for `other`, and one for `none`. */
const perName = namesMax + 2
/** More than the number of reasons in the catalogue. */
const reasonsMax = 300

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** All metrics. `docs/reference/metrics.md` contains the same list. */
export const declared = {
  // Requests. All of these are counted when the row of a request is written.
  requests: counter('tollgate_requests_total', 'Requests that ended.', {
    labels: ['endpoint', 'protocol', 'outcome', 'status_class', 'channel'],
    setsMax: 2_000,
  }),
  errors: counter(
    'tollgate_request_errors_total',
    'Requests that ended with an error, by the kind and reason of the error.',
    {
      labels: ['kind', 'reason'],
      setsMax: reasonsMax,
    },
  ),
  duration: histogram(
    'tollgate_request_duration_seconds',
    'Time from the headers of a request to its end. For a job, time since its acceptance.',
    seconds,
    { labels: ['endpoint', 'mode'], setsMax: 150 },
  ),
  beforeUpstream: histogram(
    'tollgate_request_queue_seconds',
    'Time from the headers of a request to its first upstream call.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
  ),
  firstToken: histogram(
    'tollgate_first_token_seconds',
    'Time from the headers of a request to the first token of the response.',
    seconds,
    { labels: ['channel'], setsMax: perName },
  ),
  tokenRate: histogram(
    'tollgate_output_tokens_per_second',
    'Output tokens per second of a streamed response, measured from its first token to its end.',
    [1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000],
    { labels: ['channel'], setsMax: perName },
  ),
  tokens: counter('tollgate_tokens_total', 'Tokens of ended requests.', {
    labels: ['kind', 'channel', 'model'],
    setsMax: 2_500,
  }),
  images: counter('tollgate_images_total', 'Images that were delivered or, for a failed job, previewed.', {
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
    'Cost that was not charged because it exceeded the amount held.',
    {
      labels: ['channel', 'model'],
      setsMax: 300,
      divisor: 1e9,
    },
  ),
  implausible: counter(
    'tollgate_usage_implausible_total',
    'Responses whose upstream reported more tokens than the request can have used.',
    { labels: ['channel'], setsMax: perName },
  ),
  unknownCost: counter('tollgate_requests_cost_unknown_total', 'Requests with unknown cost.', {
    labels: ['channel'],
    setsMax: perName,
  }),
  attempts: counter(
    'tollgate_attempts_total',
    'Upstream calls, by result: succeeded, or the kind of error.',
    {
      labels: ['channel', 'result'],
      setsMax: 1_000,
    },
  ),
  attemptFirstByte: histogram(
    'tollgate_attempt_first_byte_seconds',
    'Time from an upstream call to the first byte of its response.',
    seconds,
    { labels: ['channel'], setsMax: perName },
  ),
  passedOver: counter(
    'tollgate_candidates_passed_over_total',
    'Candidates that were passed over for a request.',
    {
      labels: ['channel'],
      setsMax: perName,
    },
  ),

  // Channels, as seen by this process.
  breakerOpen: gauge(
    'tollgate_channel_breaker_open',
    '1 while the circuit breaker of a channel is open or half open in a process.',
    'max',
    { labels: ['channel'], setsMax: perName },
  ),
  breakerOpenings: counter(
    'tollgate_channel_breaker_openings_total',
    'How often the circuit breaker of a channel has opened.',
    {
      labels: ['channel'],
      setsMax: perName,
    },
  ),
  cooling: gauge(
    'tollgate_channel_credentials_cooling',
    'Credentials of a channel that are in a cooldown, by its reason.',
    'max',
    { labels: ['channel', 'why'], setsMax: 3 * perName },
  ),
  channelInFlight: gauge('tollgate_channel_in_flight', 'Calls that are running on a channel.', 'sum', {
    labels: ['channel'],
    setsMax: perName,
  }),

  // Limits and money.
  limitsGranted: counter('tollgate_limits_granted_total', 'Limit decisions that allowed a request.'),
  limitsRefused: counter('tollgate_limits_refused_total', 'Limit decisions that refused a request.', {
    labels: ['scope', 'limit'],
    setsMax: 12,
  }),
  localDecisions: counter(
    'tollgate_limits_local_decisions_total',
    'Limit decisions that a process made on its own.',
  ),
  limitsShared: gauge('tollgate_limits_shared', '1 while all processes share the counters of limits.', 'min'),
  holds: counter('tollgate_money_holds_total', 'Attempts to hold money for requests, by verdict.', {
    labels: ['verdict'],
    setsMax: 8,
  }),
  heldUsd: counter('tollgate_money_held_usd_total', 'Money that was held for requests.', { divisor: 1e9 }),
  holdSeconds: histogram(
    'tollgate_money_hold_seconds',
    'Time that a request waited for its money to be held.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),

  // The ledger.
  unshippedRows: gauge('tollgate_ledger_unshipped_rows', 'Rows that may not be in Postgres yet.', 'sum'),
  unshippedBytes: gauge(
    'tollgate_ledger_unshipped_bytes',
    'Journal bytes that are not in Postgres yet.',
    'sum',
  ),
  oldestUnshipped: gauge(
    'tollgate_ledger_oldest_unshipped_seconds',
    'Age of the oldest journal bytes that are not in Postgres yet.',
    'max',
  ),
  journalBytes: gauge('tollgate_journal_bytes', 'Size of the journals on disk.', 'sum'),
  journalFill: gauge(
    'tollgate_journal_fill_ratio',
    'Size of the fullest journal, as a fraction of JOURNAL_BYTES_MAX.',
    'max',
  ),
  journals: gauge('tollgate_journals', 'Journals in the journal folder of this machine.', 'max'),
  setAside: gauge(
    'tollgate_ledger_frames_set_aside',
    'Frames in the journal folder that were set aside.',
    'max',
  ),
  adopting: gauge('tollgate_ledger_adopting', 'Journals of dead processes that are being adopted.', 'sum'),
  adoptionFailures: gauge(
    'tollgate_ledger_adoption_failures',
    'Journals of dead processes that currently cannot be adopted.',
    'max',
  ),
  adopted: counter('tollgate_ledger_adopted_total', 'Journals of dead processes that were adopted.'),
  lateCommits: counter(
    'tollgate_ledger_late_commits_total',
    'Responses that were sent before their rows were in Postgres, with DURABILITY=postgres.',
  ),
  answersDropped: counter('tollgate_answers_dropped_total', 'Captured responses that were not stored.'),
  postgresUp: gauge('tollgate_postgres_up', '1 while Postgres accepts the journal.', 'min'),
  journalWritable: gauge('tollgate_journal_writable', '1 while the journal can be written.', 'min'),

  // Traces, if they are exported.
  traceSpans: counter('tollgate_trace_spans_total', 'Spans, by result.', {
    labels: ['result'],
    setsMax: 3,
  }),
  traceWaiting: gauge('tollgate_trace_spans_waiting', 'Spans that are waiting for the collector.', 'sum'),

  // Values that are the same for all processes, read from Postgres by one of them.
  jobs: gauge('tollgate_jobs', 'Jobs that have not ended, at most 10000 for each state.', 'max', {
    labels: ['kind', 'state'],
    setsMax: 8,
  }),
  oldestJob: gauge('tollgate_job_oldest_seconds', 'Age of the oldest job that has not ended.', 'max', {
    labels: ['kind', 'state'],
    setsMax: 8,
  }),
  webhooksDue: gauge('tollgate_webhooks_due', 'Webhooks of jobs that are due, at most 10000.', 'max'),
  reservedUsd: gauge('tollgate_money_reserved_usd', 'Money held by running requests and jobs.', 'max', {
    divisor: 1e9,
  }),
  reservations: gauge('tollgate_money_reservations', 'Requests and jobs that hold money.', 'max'),
  sharedAge: gauge(
    'tollgate_database_read_age_seconds',
    'Time since jobs, webhooks and reservations were last read from Postgres.',
    'min',
  ),

  // Processes.
  inFlight: gauge('tollgate_requests_in_flight', 'Running requests.', 'sum'),
  connections: gauge('tollgate_connections', 'Open client connections.', 'sum'),
  sockets: gauge('tollgate_websockets', 'Open client WebSockets.', 'sum'),
  bodyBytes: gauge('tollgate_body_memory_bytes', 'Memory used by the bodies of running requests.', 'sum'),
  rememberedBytes: gauge(
    'tollgate_remembered_bodies_bytes',
    'Memory used by remembered conversations, as estimated.',
    'sum',
  ),
  rememberedBodies: counter(
    'tollgate_remembered_bodies_total',
    'Bodies of conversations that were remembered.',
  ),
  resumedBodies: counter(
    'tollgate_resumed_bodies_total',
    'Bodies that began like a remembered one and were read from where they differ.',
  ),
  resumedBytes: counter(
    'tollgate_resumed_bodies_bytes_total',
    'Bytes of these bodies that were not read again.',
  ),
  bodyThreads: gauge('tollgate_body_threads', 'Threads for large bodies.', 'sum'),
  bodyThreadWaiting: gauge(
    'tollgate_body_threads_waiting',
    'Large bodies that are waiting for a thread.',
    'sum',
  ),
  bodyThreadJobs: counter(
    'tollgate_body_thread_jobs_total',
    'Jobs completed by the threads for large bodies.',
  ),
  draining: gauge(
    'tollgate_draining',
    'Processes that accept no new work because they are shutting down.',
    'sum',
  ),
  loopDelay: gauge(
    'tollgate_event_loop_delay_seconds',
    'Event loop delay of the slowest process in the last 10 seconds.',
    'max',
    { labels: ['statistic'], setsMax: 4 },
  ),
  loopBusy: counter('tollgate_event_loop_busy_seconds_total', 'Time during which event loops were busy.', {
    divisor: 1_000,
  }),
  gcRatio: gauge(
    'tollgate_gc_time_ratio',
    'Fraction of time spent in garbage collection by the busiest process, sampled in one second of every ten.',
    'max',
  ),
  heapUsed: gauge('tollgate_heap_used_bytes', "Used memory in V8's heaps.", 'sum'),
  external: gauge('tollgate_external_memory_bytes', "Memory outside V8's heaps that V8 accounts for.", 'sum'),
  resident: gauge('process_resident_memory_bytes', 'Resident memory.', 'sum'),
  cpu: counter('process_cpu_seconds_total', 'User and system CPU time.', { divisor: 1e6 }),
  openFiles: gauge('process_open_fds', 'Open file descriptors.', 'sum'),
  openFilesMax: gauge('process_max_fds', 'Maximum number of open file descriptors of a process.', 'min'),
  startedAt: gauge('process_start_time_seconds', 'Start time of the oldest process since the epoch.', 'min'),
  build: gauge('tollgate_build_info', 'Always 1.', 'max', {
    labels: ['version', 'node', 'role'],
    setsMax: 8,
  }),
  processes: gauge('tollgate_processes', 'Processes whose values are included in this response.', 'sum'),
  processesExpected: gauge(
    'tollgate_processes_expected',
    'Number of processes that should be running, set by PROCESSES.',
    'max',
  ),
  leftOut: counter(
    'tollgate_processes_left_out_total',
    'How often a process did not respond to the supervisor within a second.',
  ),
  restarts: counter(
    'tollgate_process_restarts_total',
    'Processes that the supervisor started to replace others.',
  ),
  unnamed: counter(
    'tollgate_metrics_folded_total',
    'How often a name or a set of label values was counted as other, because there were too many.',
  ),
} as const satisfies Record<string, Declaration>

/** The maximum number of series in one response. */
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
