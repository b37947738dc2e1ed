import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import type { Ledger } from '../../shipping/ledger.ts'
import { holdAges } from '../../shipping/ledger-state-queries.ts'
import type { LedgerWatch } from '../../shipping/ledger-watch.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'

export interface AdminLedgerContext {
  database: Pick<Database, 'reads'>
  ledger: Ledger
  ledgerWatch: LedgerWatch
  bounds: { journalBytesMax: number }
}

const setAsideMax = 100

const count = z.number().int()

const ledgerState = z
  .object({
    status: z
      .enum(['ready', 'degraded', 'lagging', 'near_bound'])
      .describe('The status as reported by `/readyz`. The last two mean that the process is not ready.'),
    postgres: z.enum(['reached', 'away']),
    unshipped: z
      .object({
        rows: count.describe('The number of rows whose end may not be in Postgres yet.'),
        bytes: count,
        oldest_ms: count.describe('The age of the oldest part. 0 if everything is in Postgres.'),
      })
      .describe("The part of this process's journal that is not in Postgres yet."),
    others: z
      .enum(['moving', 'standing'])
      .nullable()
      .describe(
        'Whether Postgres accepts the rows of other processes. Null if no row has waited long, so this was not checked.',
      ),
    journal: z.object({
      bytes: count,
      bytes_max: count.describe('The JOURNAL_BYTES_MAX setting.'),
      trouble: z.string().nullable().describe('Why the journal cannot be written. Null if it can.'),
    }),
    journals: z
      .array(z.string())
      .describe('The processes whose journals are in the directory of this process, including itself.'),
    adoption: z.object({
      current: z
        .string()
        .nullable()
        .describe('The dead process whose journal is being shipped. Null if there is none.'),
      failed: z
        .array(z.object({ instance: z.string(), reason: z.string() }))
        .describe('The journals that currently cannot be adopted.'),
    }),
    set_aside: z.object({
      count,
      ids: z
        .array(z.string())
        .describe('The ids of the first 100 frames, as used by `tollgate ledger inspect`.'),
    }),
    holds: z
      .object({
        ages: z.array(
          z.object({
            under_seconds: count.nullable().describe('The upper bound of the age. Null if there is none.'),
            count,
            nano_usd: z.string().describe('Nano-USD as decimal digits.'),
          }),
        ),
        complete: z.boolean().describe('False if there are more than the 100,000 holds that were counted.'),
      })
      .nullable()
      .describe(
        'The money that requests hold in all processes, by age. Null if Postgres did not answer within two seconds.',
      ),
  })
  .meta({ id: 'LedgerState' })

/** Reports the state of the ledger of this process. */
export function adminLedgerEndpoint({
  database,
  ledger,
  ledgerWatch,
  bounds,
}: AdminLedgerContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    area: 'health',
    path: '/admin/v1/ledger',
    summary:
      'Get how far Postgres is behind this process, the journals on its disk, and the money that requests hold',
    answer: ledgerState,
    async handle() {
      const holds = await holdAges(database).catch(() => undefined)
      const { status, unshipped, others, journals, adoption, setAside } = ledgerWatch.state()
      const { journalBytes, postgresAway, trouble } = ledger.health()
      const postgres: 'reached' | 'away' = postgresAway === undefined ? 'reached' : 'away'
      return {
        body: {
          status,
          postgres,
          unshipped: { rows: unshipped.rows, bytes: unshipped.bytes, oldest_ms: unshipped.oldestMs },
          others: others ?? null,
          journal: { bytes: journalBytes, bytes_max: bounds.journalBytesMax, trouble: trouble ?? null },
          journals: [...journals],
          adoption: { current: adoption.current ?? null, failed: [...adoption.failed] },
          set_aside: { count: setAside.length, ids: setAside.slice(0, setAsideMax) },
          holds:
            holds === undefined
              ? null
              : {
                  ages: holds.ages.map(({ underSeconds, count, nano }) => ({
                    under_seconds: underSeconds,
                    count,
                    nano_usd: String(nano),
                  })),
                  complete: holds.isComplete,
                },
        },
      }
    },
  })
}
