import { sectionSchema } from 'tollgate-verify/report.ts'
import { z } from 'zod'
import { CommandError, exitCodes } from './exit-codes.ts'
import type { GatewayClient } from './gateway.ts'

/**
 * The parts of the gateway's responses that the commands read. All other members are passed through to
 * --json.
 */

const key = z.looseObject({
  id: z.string(),
  tenant: z.string(),
  name: z.string(),
  group: z.string(),
  hint: z.string(),
  disabled: z.boolean(),
  revoked_at: z.string().nullable(),
  blocked: z.looseObject({ at: z.string(), by: z.string(), reason: z.string() }).nullable(),
  expires_at: z.string().nullable(),
  created_at: z.string(),
})
export type Key = z.output<typeof key>
export const madeKey = key.extend({ secret: z.string() })
export const anyKey = key

export const anyChannel = z.looseObject({
  name: z.string(),
  blocked: z.looseObject({ at: z.string(), by: z.string(), reason: z.string() }).nullable(),
})

export const booked = z.looseObject({
  tenant: z.string(),
  balance_usd: z.string(),
  held_usd: z.string(),
  entry: z.looseObject({ id: z.string(), amount_usd: z.string() }),
})

const page = <Row extends z.ZodType>(row: Row) =>
  z.looseObject({ data: z.array(row), next_cursor: z.string().nullable() })

export const keyPage = page(key)

const named = z.looseObject({ name: z.string().nullable() }).nullable()

export const logRow = z.looseObject({
  id: z.string(),
  created_at: z.string(),
  endpoint: z.string(),
  requested_model: z.string().nullable(),
  channel: z.string().nullable(),
  status: z.number().nullable(),
  outcome: z.string(),
  error: z.looseObject({ kind: z.string(), message: z.string().nullable() }).nullable(),
  tokens: z
    .looseObject({
      input: z.number(),
      cache_read: z.number(),
      cache_write: z.number(),
      output: z.number(),
      reasoning: z.number(),
    })
    .nullable(),
  cost_nano_usd: z.string().nullable(),
  latency_ms: z.looseObject({ total: z.number().nullable() }),
  tenant: named,
  key: named,
})
export type ShownLogRow = z.output<typeof logRow>
export const logPage = page(logRow)

/** Rejects with a CommandError if the response has a different shape, such as that of another release. */
export async function ask<Answer>(
  schema: z.ZodType<Answer>,
  gateway: GatewayClient,
  ...call: Parameters<GatewayClient['call']>
): Promise<Answer> {
  const read = schema.safeParse(await gateway.call(...call))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new CommandError(
    exitCodes.unreachable,
    `the gateway's response does not match this release (${issue?.path.join('.')}: ${issue?.message}). Run the command from the same release as the gateway.`,
  )
}

const run = z.looseObject({
  id: z.string(),
  protocol: z.string(),
  state: z.enum(['queued', 'running', 'ended', 'failed']),
  cost_usd: z.string().nullable(),
  error: z.string().nullable(),
})
export const probeRuns = z.looseObject({ data: z.array(run) })
export const probeRun = run.extend({ sections: z.array(sectionSchema).nullable() })
export type ShownProbeRun = z.output<typeof probeRun>
