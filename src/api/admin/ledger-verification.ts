import { randomUUIDv7 } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import {
  beginVerification,
  readVerification,
  type StoredVerification,
  unwantVerification,
} from '../../ledger-tools/verification-queries.ts'
import type { Verifications } from '../../ledger-tools/verifications.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { conflict } from './refusals.ts'

export interface AdminVerificationContext {
  database: Pick<Database, 'reads'>
  verifications: Pick<Verifications, 'start'>
}

const count = z.number().int()

const verification = z
  .object({
    id: z.uuid(),
    state: z
      .enum(['running', 'ended', 'cancelled', 'failed'])
      .describe('`ended`: everything has been checked, and the result is in `holds`.'),
    holds: z.boolean().nullable().describe('Whether all rules hold. Null until the verification has ended.'),
    since: z
      .string()
      .nullable()
      .describe('The month from which on data is checked. Null if everything is checked.'),
    started_by: z.string(),
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    progress: z.object({
      done: count.describe(
        'The number of completed steps. Each step is one statement, and some take minutes.',
      ),
      of: count.describe('The total number of steps; 0 if not counted yet.'),
      doing: z.string().nullable().describe('The rule that is being checked.'),
    }),
    requests: count
      .nullable()
      .describe('The number of requests that were checked. Null until the verification has ended.'),
    orphaned: count
      .nullable()
      .describe('The number of requests whose process died, so that their cost is unknown.'),
    findings: z
      .array(
        z.object({
          rule: z.string().describe('A description of the rule.'),
          differences: count.describe('The number of differences found; 0 if the rule holds.'),
          samples: z.array(z.string()).describe('Some of the differences.'),
        }),
      )
      .nullable()
      .describe('The results of all rules. Null until the verification has ended.'),
    error: z.string().nullable().describe('Why the verification failed.'),
  })
  .meta({ id: 'LedgerVerification' })

const answer = z
  .object({
    verification: verification
      .nullable()
      .describe('The current or last verification. Null if there has been none.'),
  })
  .meta({ id: 'LastLedgerVerification' })

const asked = z
  .strictObject({
    since: z
      .string()
      .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'expected a month such as "2026-10"' })
      .nullish()
      .describe(
        'Data older than this month (UTC) is not checked, except for balances. Default: everything is checked.',
      ),
  })
  .meta({ id: 'LedgerVerificationRequest' })

const path = '/admin/v1/ledger/verification'
const within = {
  withinMs: 5_000,
  unavailable: 'The database is not responding at the moment. Try again shortly.',
}

/**
 * Endpoints to verify the ledger: start a verification, read its progress and results, cancel it. Only one
 * runs at a time, in any process.
 */
export function ledgerVerificationEndpoints({
  database,
  verifications,
}: AdminVerificationContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      area: 'health',
      path,
      summary: 'Get the running or last verification of the ledger',
      answer,
      async handle() {
        return { body: bodyOf(await database.reads.ask(({ db }) => readVerification(db), within)) }
      },
    }),
    adminChange({
      method: 'POST',
      area: 'health',
      path,
      summary: 'Verify the ledger',
      description:
        'Recomputes every sum from its parts, like `tollgate ledger verify`, on a connection of its own. The ledger is not changed. Returns 409 while a verification is running.',
      body: asked,
      statuses: [202],
      answer,
      async change({ tx, actor, body: { since = null }, audit }) {
        const id = randomUUIDv7()
        const isFirst = await beginVerification(tx, {
          id,
          since: since === null ? null : `${since}-01`,
          startedBy: actor.name,
        })
        if (!isFirst)
          throw conflict('A verification of the ledger is already running. Wait for it to end, or cancel it.')
        await audit({ action: 'ledger.verify', resource: 'ledger', id, after: { since } })
        return { status: 202, body: bodyOf(await readVerification(tx)) }
      },
      async committed({ verification }) {
        if (verification === null) return
        const { id, since } = verification
        verifications.start(id, since === null ? undefined : `${since}-01`)
      },
    }),
    adminChange({
      method: 'POST',
      area: 'health',
      path: `${path}/cancel`,
      summary: 'Cancel the running verification',
      description:
        'The process that runs the verification stops it, including its current statement, within a few seconds. Returns 409 if none is running.',
      statuses: [202],
      answer,
      async change({ tx, audit }) {
        const id = await unwantVerification(tx)
        if (id === undefined) throw conflict('No verification of the ledger is running.')
        await audit({ action: 'ledger.cancel_verification', resource: 'ledger', id })
        return { status: 202, body: bodyOf(await readVerification(tx)) }
      },
    }),
  ]
}

function bodyOf(row: StoredVerification | undefined): z.output<typeof answer> {
  return { verification: row === undefined ? null : verificationJson(row) }
}

function verificationJson(row: StoredVerification): z.output<typeof verification> {
  const { id, findings, requests, orphaned, isSilent } = row
  return {
    ...{ id, requests, orphaned, findings },
    state: isSilent ? 'failed' : row.state,
    holds: findings === null ? null : findings.every(({ differences }) => differences === 0),
    since: row.since?.slice(0, 7) ?? null,
    started_by: row.startedBy,
    started_at: row.startedAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
    progress: { done: row.stepsDone, of: row.steps, doing: row.doing },
    error: isSilent
      ? 'The process that ran the verification no longer responds. Start a new verification.'
      : row.error,
  }
}
