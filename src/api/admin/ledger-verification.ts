import { randomUUIDv7 } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import {
  beginVerification,
  readVerification,
  type StoredVerification,
  unwantVerification,
} from '../../ledger/verification-queries.ts'
import type { Verifications } from '../../ledger/verifications.ts'
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
      .describe('`ended`: it has looked at everything, and `holds` says what came of it.'),
    holds: z.boolean().nullable().describe('Whether every rule holds; null: it has not ended.'),
    since: z.string().nullable().describe('The month from which on it looks; null: at everything.'),
    started_by: z.string(),
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    progress: z.object({
      done: count.describe('Steps; each is a statement of its own, and some take minutes.'),
      of: count.describe('0: not counted yet.'),
      doing: z.string().nullable().describe('The rule that is checked now.'),
    }),
    requests: count.nullable().describe('How many requests it has looked at; null: it has not ended.'),
    orphaned: count.nullable().describe('Those whose process died: their cost is unknown.'),
    findings: z
      .array(
        z.object({
          rule: z.string().describe('In words: what must hold.'),
          differences: count.describe('What does not fit; 0: the rule holds.'),
          samples: z.array(z.string()).describe('A few of them.'),
        }),
      )
      .nullable()
      .describe('All rules; null: it has not ended.'),
    error: z.string().nullable().describe('Why it failed.'),
  })
  .meta({ id: 'LedgerVerification' })

const answer = z
  .object({ verification: verification.nullable().describe('The last one; null: there was none.') })
  .meta({ id: 'LastLedgerVerification' })

const asked = z
  .strictObject({
    since: z
      .string()
      .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'expected a month such as "2026-10"' })
      .nullish()
      .describe(
        'Leaves out what is older than this month (UTC). Balances are checked all the same. Default: nothing is left out.',
      ),
  })
  .meta({ id: 'LedgerVerificationRequest' })

const path = '/admin/v1/ledger/verification'
const within = { withinMs: 5_000, unavailable: 'The database does not answer at the moment. Try again.' }

/**
 * Recompute the ledger: start it, read how far it is and what it has found, cancel it. One runs at a time, in
 * any process.
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
      summary: 'The verification of the ledger that runs, or the last one',
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
        'Recomputes every sum from its parts, as `tollgate ledger verify` does. It changes nothing of the ledger, and has one connection of its own. 409 while one runs.',
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
        if (!isFirst) throw conflict('The ledger is being verified already. Wait for its end, or cancel it.')
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
      summary: 'Cancel the verification that runs',
      description:
        'The process that runs it ends it, with its statement, within a few seconds. 409 while none runs.',
      statuses: [202],
      answer,
      async change({ tx, audit }) {
        const id = await unwantVerification(tx)
        if (id === undefined) throw conflict('The ledger is not being verified.')
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
    error: isSilent ? 'The process that ran it gives no sign any more. Start it again.' : row.error,
  }
}
