import type { ClientProtocol } from './clients.ts'
import type { Drive } from './load.ts'

export interface Scenario {
  name: string
  /** The format of the client. The upstream speaks openai-chat, so Tollgate translates any other format. */
  protocol: ClientProtocol
  /**
   * The other subject without --against: R, or a second Tollgate in a process of its own, without `settings`. R speaks
   * openai-chat alone; it gets the same bodies and sends them on as they are.
   */
  yardstick: 'R' | 'plain'
  /** Environment of the measured Tollgate. */
  settings?: Readonly<Record<string, string>>
  /** Tollgate exports traces to a collector. */
  isTraced?: boolean
  /** Chooses the mock upstream's answer, see answers.ts. */
  model: string
  bodyBytes: number
  /** Each body differs from all others at its beginning, so that none is one that was seen before. */
  isNew?: boolean
  key: 'unlimited' | 'budgeted'
  drive: Drive
  /** The unit by which CPU time is divided. */
  per: 'request' | 'event' | 'turn'
  /** Also measure the mock upstream without a gateway, in order to compute the added latency. */
  direct: boolean
  goals: Goals
}

/** Goals fail nothing: they are printed beside the figures. A ratio is to the yardstick. */
export interface Goals {
  cpuRatioMax?: number
  /** Of an agent's last turns. */
  lateRatioMax?: number
  addedP50UsMax?: number
  addedP99UsMax?: number
  residentMbMax?: number
}

const closed = (inFlight: number, calls: number): Drive => ({
  kind: 'closed',
  inFlight,
  calls,
  durationMs: Number(process.env.BENCH_MS ?? 1000),
})
const request = {
  protocol: 'openai-chat',
  yardstick: 'R',
  per: 'request',
  direct: false,
  key: 'unlimited',
} as const
const small = { ...request, model: 'json', bodyBytes: 900, drive: closed(16, 5_000) } as const
const large = { ...request, model: 'burst-8', bodyBytes: 200_000, drive: closed(8, 400) } as const
const translated = { protocol: 'anthropic-messages' } as const
const agents = {
  ...request,
  per: 'turn',
  model: 'burst-8',
  bodyBytes: 900,
  // Above the 500 ms after which an idle shipper looks for new rows.
  drive: { kind: 'turns', sessions: 8, pauseMs: 1500 },
} as const
const rate200 = { kind: 'rate', perSecond: 200, durationMs: 2000 } as const
const durable = {
  ...small,
  yardstick: 'plain',
  settings: { DURABILITY: 'postgres' },
  goals: {},
} as const
const measured = { ...small, yardstick: 'plain', settings: { METRICS_PORT: '0' } } as const
const sampled = (ratio: string) => ({
  ...measured,
  isTraced: true,
  settings: {
    ...measured.settings,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: ratio,
  },
  goals: {},
})

/** In the order of a round. Those of a commit's comparison come first, and the held streams before all: their memory is that of a process that did little else. */
export const scenarios: readonly Scenario[] = [
  {
    ...request,
    name: 'hold-1000',
    // Lasts longer than the opening, a pause of a second for what is left of it, and the window together.
    model: 'paced-55x100',
    bodyBytes: 900,
    drive: { kind: 'hold', streams: 1000, openMs: 1500, windowMs: 2500 },
    per: 'event',
    direct: true,
    goals: { cpuRatioMax: 0.95, residentMbMax: 200 },
  },
  { ...small, name: 'small-c16', goals: { cpuRatioMax: 1.6 } },
  {
    ...small,
    name: 'burst',
    model: 'burst-10000',
    drive: closed(8, 40),
    per: 'event',
    goals: { cpuRatioMax: 1.5 },
  },
  // The upstream's model name differs, and Tollgate must ask for usage: it splices the body twice.
  { ...large, name: 'body-200k', isNew: true, goals: { cpuRatioMax: 0.8 } },
  { ...small, ...translated, name: 'messages-c16', goals: { cpuRatioMax: 1.9 } },
  { ...large, ...translated, name: 'messages-200k', isNew: true, goals: { cpuRatioMax: 2.6 } },
  { ...agents, name: 'turns', goals: { lateRatioMax: 0.6 } },
  { ...agents, ...translated, name: 'turns-translated', goals: { lateRatioMax: 1 } },
  {
    ...small,
    name: 'rate-200',
    drive: rate200,
    direct: true,
    goals: { cpuRatioMax: 1.5, addedP50UsMax: 250, addedP99UsMax: 800 },
  },
  { ...large, ...translated, name: 'messages-200k-seen', goals: { cpuRatioMax: 0.9 } },
  { ...small, name: 'small-c16-budgeted', key: 'budgeted', goals: {} },
  {
    ...small,
    ...translated,
    name: 'messages-burst',
    model: 'burst-10000',
    drive: closed(8, 40),
    per: 'event',
    goals: {},
  },
  { ...measured, name: 'metrics-c16', goals: { cpuRatioMax: 1.1 } },
  // Metrics and traces together, against neither.
  { ...measured, name: 'traces-c16', isTraced: true, goals: { cpuRatioMax: 1.1 } },
  { ...sampled('0.01'), name: 'traces-1-c16' },
  { ...sampled('1'), name: 'traces-all-c16' },
  { ...durable, name: 'durable-200', drive: rate200, direct: true },
  { ...durable, name: 'durable-c16' },
  { ...durable, name: 'durable-c256', drive: closed(256, 5_000) },
]

/** What a commit is compared in, unless scenarios are named. */
export const guarded: readonly string[] = [
  'hold-1000',
  'small-c16',
  'burst',
  'body-200k',
  'messages-c16',
  'messages-200k',
  'turns',
  'turns-translated',
  'rate-200',
]
