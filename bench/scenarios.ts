import type { ClientProtocol } from './clients.ts'
import type { Drive } from './load.ts'

export interface Scenario {
  name: string
  /** The format of the client. The upstream speaks openai-chat, so Tollgate translates any other format. */
  protocol: ClientProtocol
  /**
   * The other subject: R, or a second Tollgate with the same configuration whose client speaks openai-chat, so that it passes
   * answers through, or a second Tollgate with DURABILITY=journal where the measured one has DURABILITY=postgres, or a second one without
   * METRICS_PORT and traces where the measured one has them. Each runs in a process of its own, so that neither pays for the other's garbage or compiled code.
   */
  yardstick: 'R' | 'pass-through' | 'journal' | 'unmeasured'
  /** Chooses the mock upstream's answer, see answers.ts. */
  model: string
  /** Where the measured one exports traces: how it samples them, as OTEL_TRACES_SAMPLER and its argument. */
  traces?: Record<string, string>
  bodyBytes: number
  key: 'unlimited' | 'budgeted'
  drive: Drive
  /** The unit by which CPU time is divided. */
  per: 'request' | 'event'
  /**
   * The window stays open for so long after the last answer, in order to count deferred work, such as shipping the usage log.
   * 0 for the held streams: their window lies in the middle of the load.
   */
  settleMs: number
  /** Also measure the mock upstream without a gateway, in order to compute the added latency. */
  direct: boolean
  goals: Goals
}

/** A missed goal fails the bench. Ratios are to the yardstick, in pairs of neighbouring rounds. */
export interface Goals {
  cpuRatioMax?: number
  /** Tollgate and Postgres together. */
  cpuWithPostgresUsMax?: number
  residentMbMax?: number
}

const closed = (inFlight: number): Drive => ({
  kind: 'closed',
  inFlight,
  durationMs: Number(process.env.BENCH_MS ?? 3000),
})
const request = {
  protocol: 'openai-chat',
  yardstick: 'R',
  per: 'request',
  settleMs: 700,
  direct: false,
  key: 'unlimited',
} as const
const durable = { ...request, yardstick: 'journal', goals: {} } as const
const traced = {
  ...request,
  yardstick: 'unmeasured',
  model: 'json',
  bodyBytes: 900,
  drive: closed(16),
  goals: {},
} as const
const sampled = (ratio: string) => ({
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: ratio,
})
const translated = { ...request, protocol: 'anthropic-messages' } as const

export const scenarios: readonly Scenario[] = [
  {
    ...request,
    name: 'small-c16',
    model: 'json',
    bodyBytes: 900,
    drive: closed(16),
    goals: { cpuRatioMax: 1.6, cpuWithPostgresUsMax: 90 },
  },
  {
    ...request,
    name: 'rate-200',
    model: 'json',
    bodyBytes: 900,
    drive: { kind: 'rate', perSecond: 200, durationMs: 4000 },
    direct: true,
    goals: {},
  },
  {
    ...request,
    name: 'hold-1000',
    // Lasts longer than the opening (1 s), a pause (0.5 s) and the window (4 s) together.
    model: 'paced-60x100',
    bodyBytes: 900,
    drive: { kind: 'hold', streams: 1000, openMs: 1000, windowMs: 4000 },
    per: 'event',
    settleMs: 0,
    direct: true,
    goals: { cpuRatioMax: 1.2, residentMbMax: 220 },
  },
  {
    ...request,
    name: 'burst',
    model: 'burst-10000',
    bodyBytes: 900,
    drive: closed(8),
    per: 'event',
    goals: { cpuRatioMax: 1.5 },
  },
  {
    ...request,
    // The upstream's model name differs, and Tollgate must ask for usage: it splices the body twice.
    name: 'body-200k',
    model: 'burst-8',
    bodyBytes: 200_000,
    drive: closed(8),
    goals: { cpuRatioMax: 0.8 },
  },
  {
    ...request,
    name: 'small-c16-budgeted',
    model: 'json',
    bodyBytes: 900,
    drive: closed(16),
    key: 'budgeted',
    goals: {},
  },
  {
    ...translated,
    name: 'messages-c16',
    yardstick: 'pass-through',
    model: 'json',
    bodyBytes: 900,
    drive: closed(16),
    goals: { cpuRatioMax: 1.3 },
  },
  {
    ...translated,
    name: 'messages-burst',
    yardstick: 'pass-through',
    model: 'burst-10000',
    bodyBytes: 900,
    drive: closed(8),
    per: 'event',
    goals: { cpuRatioMax: 2.8 },
  },
  {
    ...translated,
    name: 'messages-200k',
    model: 'burst-8',
    bodyBytes: 200_000,
    drive: closed(8),
    goals: { cpuRatioMax: 2.2 },
  },
  {
    ...request,
    name: 'metrics-c16',
    yardstick: 'unmeasured',
    model: 'json',
    bodyBytes: 900,
    drive: closed(16),
    goals: { cpuRatioMax: 1.1 },
  },
  // Metrics and traces together, against neither.
  { ...traced, name: 'traces-c16', traces: {}, goals: { cpuRatioMax: 1.1 } },
  { ...traced, name: 'traces-1-c16', traces: sampled('0.01') },
  { ...traced, name: 'traces-all-c16', traces: sampled('1') },
  {
    ...durable,
    name: 'durable-200',
    model: 'json',
    bodyBytes: 900,
    drive: { kind: 'rate', perSecond: 200, durationMs: 4000 },
    direct: true,
  },
  {
    ...durable,
    name: 'durable-c16',
    model: 'json',
    bodyBytes: 900,
    drive: closed(16),
  },
  {
    ...durable,
    name: 'durable-c256',
    model: 'json',
    bodyBytes: 900,
    drive: closed(256),
  },
]
