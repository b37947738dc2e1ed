import { randomUUIDv7 } from 'node:crypto'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

export const instance = randomUUIDv7()

/** Tenants, keys and groups on a database of its own. */
export async function startMoneyBed() {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url, { max: 16 })
  await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instance}, 'here', 1, now(), now(), 'live')`
  return {
    url,
    database,
    ...moneyOf(database),
    async close() {
      await database.close()
      await drop()
    },
  }
}

/** The functions that move money. */
export function moneyOf({ sql }: Database) {
  return {
    /** An undefined balance: the account is not limited. */
    async aTenant(balanceNano?: bigint, budgets: Budgets = {}): Promise<string> {
      const id = randomUUIDv7()
      const balance = String(balanceNano ?? 0n)
      await sql`INSERT INTO tenants ${sql({ id, name: id, managed_by: 'admin', ...columnsOf(budgets) })}`
      await sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${id}, ${balanceNano !== undefined}, ${balance})`
      await sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
        VALUES (${id}, ${id}, now(), 'opening', ${balance})`
      return id
    },
    async aGroup(budgets: Budgets = {}): Promise<string> {
      const id = randomUUIDv7()
      await sql`INSERT INTO key_groups ${sql({ id, name: id, models: ['*'], channels: ['*'], managed_by: 'admin', ...columnsOf(budgets) })}`
      return id
    },
    async aKey(tenantId: string, groupId: string, budgets: Budgets = {}): Promise<Payer> {
      const id = randomUUIDv7()
      const row = {
        id,
        tenant_id: tenantId,
        group_id: groupId,
        name: id,
        secret_hash: Buffer.from(id),
        hint: 'hint',
        managed_by: 'admin',
        ...columnsOf(budgets),
      }
      await sql`INSERT INTO keys ${sql(row)}`
      return { tenantId, keyId: id, groupId }
    },
    /** The verdicts in order: `granted`, or for example `busy balance 5 3` with the rest and the free part of it. */
    async reserve(...wishes: MoneyWish[]): Promise<string[]> {
      const rows = await sql<Record<string, string>[]>`
        SELECT request, verdict, pot, left_nano, free_nano FROM reserve_money(${instance},
          ${wishes.map(({ id }) => id)}::uuid[], ${wishes.map(({ payer }) => payer.tenantId)}::uuid[],
          ${wishes.map(({ payer }) => payer.keyId)}::uuid[], ${wishes.map(({ payer }) => payer.groupId)}::uuid[],
          ${wishes.map(({ amount }) => String(amount))}::bigint[])`
      const said = new Map(
        rows.map(({ request = '', verdict, pot, left_nano, free_nano }) => [
          request,
          verdict === 'granted' ? verdict : `${verdict} ${pot} ${left_nano} ${free_nano}`,
        ]),
      )
      return wishes.map(({ id }) => said.get(id) ?? 'not answered')
    },
    /** Does what a shipment does: the row, the entry and the money in one transaction. */
    async settle(...ended: Ended[]): Promise<void> {
      await sql.begin(async (tx) => {
        for (const [at, { id, payer, cost }] of ended.entries()) {
          // Rows of older releases, and rows that cost more than was charged.
          const money =
            at % 2 === 0
              ? { cost_nano: String(cost) }
              : { cost_nano: String(3n * cost), charged_nano: String(cost) }
          await tx`INSERT INTO requests ${tx({ ...rowOf(id, payer), ...money })}`
          if (cost > 0n)
            await tx`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
              VALUES (${id}, ${payer.tenantId}, uuid_moment(${id}), 'charge', ${String(-cost)})`
        }
        const charged = ended.filter(({ cost }) => cost > 0n)
        await tx`SELECT settle_money(${ended.map(({ id }) => id)}::uuid[],
          ${charged.map(({ payer }) => payer.tenantId)}::uuid[], ${charged.map(({ payer }) => payer.keyId)}::uuid[],
          ${charged.map(({ payer }) => payer.groupId)}::uuid[],
          ${charged.map(({ id }) => momentOf(id).toISOString())}::text[]::timestamptz[],
          ${charged.map(({ cost }) => String(cost))}::bigint[])`
      })
    },
    async setBudgets(table: BudgetTable, id: string, budgets: Budgets): Promise<void> {
      await sql`UPDATE ${sql(table)} SET ${sql(columnsOf(budgets))} WHERE id = ${id}`
    },
    /** For example `day 2026-01-31: spent 5, held 3`. */
    async periods(ownerId: string): Promise<string[]> {
      const rows = await sql<Record<string, string>[]>`
        SELECT period, to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, spent_nano, reserved_nano
        FROM budget_periods WHERE owner_id = ${ownerId} ORDER BY period, starts_at`
      return rows.map(
        ({ period, day, spent_nano, reserved_nano }) =>
          `${period} ${day}: spent ${spent_nano}, held ${reserved_nano}`,
      )
    },
    /** The rest of a budget for a request at this time. It asks for more than any budget has, and reads the refusal. */
    async left(payer: Payer, moment: Date | number = Date.now()): Promise<string> {
      const id = idAt(moment)
      const [said = ''] = await this.reserve({ id, payer, amount: 10n ** 18n })
      return said
    },
    async account(tenantId: string): Promise<{ balance: bigint; held: bigint }> {
      const [row] = await sql`SELECT balance_nano, reserved_nano FROM accounts WHERE id = ${tenantId}`
      return { balance: BigInt(row?.balance_nano), held: BigInt(row?.reserved_nano) }
    },
    async broken() {
      const { findings } = await verifyLedger(sql)
      return findings.filter(({ differences }) => differences > 0)
    },
  }
}

export type MoneyBed = Awaited<ReturnType<typeof startMoneyBed>>

export type BudgetTable = 'keys' | 'key_groups' | 'tenants'

/** The owners of the budgets of a key's requests, with their tables and their names in verdicts. */
export function ownersOf({ keyId, groupId, tenantId }: Payer) {
  return [
    { table: 'keys', id: keyId, name: 'key' },
    { table: 'key_groups', id: groupId, name: 'group' },
    { table: 'tenants', id: tenantId, name: 'tenant' },
  ] as const satisfies { table: BudgetTable; id: string; name: string }[]
}

/** Nano-USD; null removes the budget. */
export interface Budgets {
  day?: bigint | null
  month?: bigint | null
  total?: bigint | null
}

export interface Payer {
  tenantId: string
  keyId: string
  groupId: string
}

export interface MoneyWish {
  id: string
  payer: Payer
  amount: bigint
}

export interface Ended {
  id: string
  payer: Payer
  cost: bigint
}

/** A uuidv7 of the given time. */
export function idAt(moment: Date | number): string {
  const ms = BigInt(typeof moment === 'number' ? moment : moment.getTime())
  const head = ms.toString(16).padStart(12, '0')
  return `${head.slice(0, 8)}-${head.slice(8)}${randomUUIDv7().slice(13)}`
}

function momentOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

function columnsOf({ day, month, total }: Budgets): Record<string, string | null> {
  const columns: Record<string, string | null> = {}
  if (day !== undefined) columns.budget_day_nano = day === null ? null : String(day)
  if (month !== undefined) columns.budget_month_nano = month === null ? null : String(month)
  if (total !== undefined) columns.budget_total_nano = total === null ? null : String(total)
  return columns
}

function rowOf(id: string, { tenantId, keyId, groupId }: Payer) {
  return {
    id,
    created_at: momentOf(id),
    tenant_id: tenantId,
    key_id: keyId,
    group_id: groupId,
    endpoint: '/v1/chat/completions',
    stream: false,
    status: 200,
    outcome: 'succeeded',
    usage_source: 'upstream',
    total_ms: 1,
    attempt_count: 0,
    folded: 1,
  }
}
