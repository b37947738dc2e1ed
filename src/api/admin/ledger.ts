import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { holdAges } from '../../ledger/ledger-state-queries.ts'
import type { LedgerWatch } from '../../ledger/ledger-watch.ts'
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
      .describe('As `/readyz` tells it: the last two are not ready.'),
    postgres: z.enum(['reached', 'away']),
    unshipped: z
      .object({
        rows: count.describe('Rows whose end Postgres may not have yet.'),
        bytes: count,
        oldest_ms: count.describe('Age of the oldest part; 0: Postgres has all of it.'),
      })
      .describe('The part of the journal of this process that Postgres does not have.'),
    others: z
      .enum(['moving', 'standing'])
      .nullable()
      .describe(
        'Whether Postgres takes the rows of other processes; null: no row has waited long, so it was not checked.',
      ),
    journal: z.object({
      bytes: count,
      bytes_max: count.describe('JOURNAL_BYTES_MAX.'),
      trouble: z.string().nullable().describe('Why it cannot be written; null: it can.'),
    }),
    journals: z
      .array(z.string())
      .describe('The processes whose journals are in the folder of this process, itself included.'),
    adoption: z.object({
      current: z.string().nullable().describe('The dead process whose journal is being shipped; null: none.'),
      failed: z
        .array(z.object({ instance: z.string(), reason: z.string() }))
        .describe('Journals that cannot be adopted now.'),
    }),
    set_aside: z.object({
      count,
      ids: z.array(z.string()).describe('The first 100 of them, as `tollgate ledger inspect` names them.'),
    }),
    holds: z
      .object({
        ages: z.array(
          z.object({
            under_seconds: count.nullable().describe('The bound of the age; null: it has none.'),
            count,
            nano_usd: z.string().describe('Nano-USD in decimal digits.'),
          }),
        ),
        complete: z.boolean().describe('False: there are more than the 100,000 that were counted.'),
      })
      .nullable()
      .describe(
        'The money that requests hold, by age, over all processes; null: Postgres did not answer in two seconds.',
      ),
  })
  .meta({ id: 'LedgerState' })

/** The state of the ledger of this process. */
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
      'How far Postgres is behind this process, the journals on its disk, and the money that requests hold',
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
