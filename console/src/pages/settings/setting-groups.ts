import { bytes, duration } from '../../format/numbers.ts'

/** Settings by what they are about. A name belongs to the first group that it fits. */
const groups: readonly { title: string; fits: RegExp }[] = [
  { title: 'Images and answers in the background', fits: /^(IMAGE_|BACKGROUND_)/ },
  { title: 'Archive', fits: /^(ARCHIVE_|HOT_DAYS)/ },
  { title: 'Alerts and webhooks', fits: /^(ALERT_|WEBHOOK_)/ },
  { title: 'Sign-in and the admin API', fits: /^(ADMIN_TOKEN|OIDC_|SESSION_|SIGN_IN_|INVITATION_|RESET_)/ },
  { title: 'Pages', fits: /^(PAGES|SITE_)/ },
  { title: 'Buckets', fits: /^S3_/ },
  {
    title: 'Metrics, traces and log lines',
    fits: /^(METRICS_|OTEL_|TRACE_|ACCESS_LOG|FAILURE_LINES|UNKNOWN_LINES)/,
  },
  {
    title: 'Upstreams and routing',
    fits: /^(UPSTREAM_|BREAKER_|ATTEMPTS_|CREDENTIAL_|MODEL_LIST_|RETRY_|ROUTING_|PROBE_|PRIVATE_ADDRESSES|DENIED_BETAS|OUTPUT_TOKENS|SSE_|WATCHED_)/,
  },
  { title: 'Kept answers, conversations and files', fits: /^(KEPT_|CONVERSATION|FILE|STATE_CONNECTIONS)/ },
  {
    title: 'Usage log and ledger',
    fits: /^(JOURNAL_|SHIP_|CAPTURE_|ROLLUP_|PARTITIONS_|LEDGER_|LOG_(QUERY|CONNECTIONS)|EXPORT|ENTRY_|PAYLOAD_|ANSWER|REQUEST_RETENTION|DURAB|UNAUTHENTICATED_|INSTANCE_DEAD)/,
  },
  { title: 'WebSockets', fits: /^(SOCKET|KEY_SOCKETS|RESPONSES_WEBSOCKET)/ },
  { title: 'Keys, limits and money', fits: /^(KEY_|KEYS_|KNOWN_|LIMITS_|BUDGET_|MONEY_)/ },
  {
    title: 'Place and process',
    fits: /^(HOST|PORT|PUBLIC_URL|DATA|SECRET_|GATEWAY_|TLS_|TRUSTED_|PLAIN_HTTP|PROCESSES|LOG_LEVEL|LOG_FORMAT|ROLE|REDIS_|DRAIN_|CRASH_DRAIN_|SHUTDOWN_|REVISION_)/,
  },
  { title: 'Connections to Postgres', fits: /_CONNECTIONS$|^READS_/ },
  {
    title: 'Requests of clients',
    fits: /^(BOD|CORS_|DECODED_|HEADER_|HELD_|CLIENT_|CONNECTIONS_|IN_FLIGHT|ADMIT_|IDEMPOTE|JSON_|KEEP_ALIVE|REMEMBERED_|REQUEST_|STREAM_)/,
  },
]
const others = 'Others'
/** What a new gateway is set up with appears first. */
const first = ['Place and process', 'Pages', 'Sign-in and the admin API']

export function groupOf(name: string): string {
  return groups.find(({ fits }) => fits.test(name))?.title ?? others
}

/** The settings by group, in the order of the titles; what no one has put into a group appears at the end. */
export function grouped<Setting extends { name: string }>(
  settings: readonly Setting[],
): { title: string; settings: Setting[] }[] {
  const titles = [...groups.map(({ title }) => title).filter((title) => !first.includes(title))].sort()
  return [...first, ...titles, others].flatMap((title) => {
    const found = settings.filter(({ name }) => groupOf(name) === title)
    return found.length === 0 ? [] : [{ title, settings: found }]
  })
}

/** `IMAGE_WAIT_MS`, 60000 -> `1 min`. `exact` is there where the words are shorter than the value. */
export function settingWords(name: string, value: unknown): { words: string; exact?: string } {
  if (value === null || value === undefined || value === '') return { words: 'not set' }
  if (typeof value === 'number' && value > 0) {
    if (/_BYTES(_|$)/.test(name)) return { words: bytes(value), exact: `${value} bytes` }
    if (/_MS(_MAX)?$/.test(name)) return { words: duration(value), exact: `${value} ms` }
    if (/_SECONDS$/.test(name)) return { words: duration(value * 1_000), exact: `${value} s` }
    const unit = /_(MINUTES|HOURS|DAYS|MONTHS)$/.exec(name)?.[1]?.toLowerCase()
    if (unit !== undefined) return { words: `${value} ${value === 1 ? unit.slice(0, -1) : unit}` }
  }
  if (typeof value === 'string') return { words: value }
  return { words: Array.isArray(value) ? value.join(', ') || 'none' : JSON.stringify(value) }
}

/** Whether a setting has all words of a search, in any order and with spaces for underscores. */
export function matches(name: string, words: string): boolean {
  return words
    .toUpperCase()
    .split(/[\s_]+/)
    .every((word) => name.includes(word))
}
