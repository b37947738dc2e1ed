import type { ClientProtocol } from './clients.ts'
import type { Drive } from './load.ts'

export interface Scenario {
  name: string
  /** What the client speaks to Tollgate. The upstream speaks openai-chat: anything else is translated. */
  protocol: ClientProtocol
  /**
   * What Tollgate is measured against: R, or a second Tollgate of the same file whose client speaks openai-chat, so
   * that it passes through. Each in a process of its own: neither pays for the other's garbage or compiled code.
   */
  yardstick: 'R' | 'pass-through'
  /** Chooses the mock upstream's answer, see answers.ts. */
  model: string
  bodyBytes: number
  key: 'unlimited' | 'budgeted'
  drive: Drive
  /** What CPU is divided by. */
  per: 'request' | 'event'
  /**
   * How long after the last answer the window stays open, so that what a subject put off (shipping the usage log)
   * is counted. 0 for the held streams: their window lies in the middle of the load.
   */
  settleMs: number
  /** Also measure the mock upstream without a gateway, to tell the added latency. */
  direct: boolean
  goals: Goals
}

/** A goal that is missed fails the bench. Ratios are to the yardstick, in pairs of neighbouring rounds. */
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
    // As long as opening (1 s), a rest (0.5 s), the window (4 s) and a margin take.
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
    // The upstream's name differs and usage must be asked for: the body is spliced twice.
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
]
