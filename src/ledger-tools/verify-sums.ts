import { minutesKept } from '../usage/rollups.ts'
import { countedDeltas, countedRows, sumNames } from '../usage/summary-pieces.ts'
import type { RuleFinding } from './rule-finding.ts'
import type { AskOne, RunRule } from './run-rule.ts'

const samplesMax = 5

/** A day whose sums are checked. */
interface Day {
  day: string
  hours: boolean
  minutes: string
}

/**
 * The days whose partition still exists. The rows of other days have been deleted by retention, although
 * their sums remain. Days waiting to be counted are ignored. `since` is a time in SQL format.
 */
export async function daysOfSums(ask: AskOne, since: string): Promise<readonly Day[]> {
  return await ask(
    (sql) => sql<Day[]>`
    SELECT p.day::text, p.day >= (now() AT TIME ZONE 'UTC')::date - ${hoursCheckedDays}::integer AS hours,
      (now() - make_interval(mins => ${minutesKept - 60}))::text AS minutes
    FROM (
      SELECT to_date(right(c.relname, 8), 'YYYYMMDD') AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'requests'::regclass AND c.relname ~ '^requests_[0-9]{8}$'
      UNION SELECT DISTINCT (d.created_at AT TIME ZONE 'UTC')::date FROM requests_default d
    ) AS p
    WHERE p.day >= (${since}::text::timestamptz AT TIME ZONE 'UTC')::date
      AND NOT EXISTS (SELECT 1 FROM rollup_backfill b WHERE b.day = p.day)
    ORDER BY p.day`,
  )
}

/** The number of steps of `checkSums`. */
export function stepsOfSums(days: readonly Day[]): number {
  return rules.length * days.length + 1
}

/**
 * Compares the sums with the rows of the usage log, day by day: each day is one statement with its own
 * snapshot. Rows that have since been deleted are represented by `deleted_sums`.
 */
export async function checkSums(step: RunRule, days: readonly Day[]): Promise<RuleFinding[]> {
  const findings: RuleFinding[] = []
  for (const { rule, query } of rules) {
    const total: RuleFinding = { rule, differences: 0, samples: [] }
    for (const { day, hours, minutes } of days) {
      const found = await step(rule, (sql) =>
        sql.unsafe<{ sample: string; differences: string }[]>(
          `WITH broken AS (${query(day, minutes, hours)})
          SELECT sample, (SELECT count(*) FROM broken) AS differences FROM broken LIMIT ${samplesMax}`,
        ),
      )
      total.differences += Number(found[0]?.differences ?? 0)
      total.samples.push(...found.map(({ sample }) => sample).slice(0, samplesMax - total.samples.length))
    }
    findings.push(total)
  }
  return [...findings, await checkMonths(step)]
}

/**
 * The rows of a whole month do not stay in the usage log for long, so sums by month are compared with those
 * by day, which are kept indefinitely.
 */
async function checkMonths(step: RunRule): Promise<RuleFinding> {
  const rule = 'every sum by month matches its days'
  const parts = ['cut', 'tenant_id', 'group_id', 'model', 'channel', 'outcome']
  const signed = sumNames.map((name) => `-${name} AS ${name}`).join(', ')
  const found = await step(rule, (sql) =>
    sql.unsafe<{ sample: string; differences: string }[]>(`
    WITH broken AS (
      SELECT concat_ws(' ', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM'), ${parts.join(', ')}) || ': requests differ by '
        || sum(requests) || ', nano-USD by ' || sum(cost_nano) || ' and in all by ' || sum(rows) || ' rows' AS sample
      FROM (
        SELECT month AS at, ${list(parts)} FROM rollup_months
        UNION ALL SELECT date_trunc('month', day, 'UTC') AS at, ${parts.join(', ')}, ${signed} FROM rollup_days
        WHERE cut IN ('tenant', 'group', 'model', 'channel')
      ) AS t
      GROUP BY at, ${parts.join(', ')} HAVING ${sumNames.map((name) => `sum(${name}) <> 0`).join(' OR ')}
    )
    SELECT sample, (SELECT count(*) FROM broken) AS differences FROM broken LIMIT ${samplesMax}`),
  )
  return {
    rule,
    differences: Number(found[0]?.differences ?? 0),
    samples: found.map(({ sample }) => sample),
  }
}

/** Less than the shortest time for which sums by hour can be kept. */
const hoursCheckedDays = 31

const parts = ['tenant_id', 'key_id', 'group_id', 'model', 'channel', 'outcome']

interface SumsRule {
  rule: string
  query(day: string, minutesFrom: string, hasHours: boolean): string
}

const rules: readonly SumsRule[] = [
  {
    rule: 'every sum by hour matches its requests',
    query: (day, _, hasHours) =>
      differences(
        hasHours ? ["date_bin('1 hour', minute, 'epoch') AS at", ...parts] : [`'${day}'::date AS at`],
        hasHours
          ? `SELECT hour AS at, ${list(parts)} FROM rollup_hours WHERE ${isOf(day, 'hour')}`
          : undefined,
        day,
      ),
  },
  {
    rule: 'every sum by hour matches its requests, in each of its cuts',
    query: (day, _, hasHours) =>
      cuts
        .filter(({ isSingle }) => isSingle)
        .map(({ cut, by }) =>
          differences(
            [`'${cut}' AS cut`, "date_bin('1 hour', minute, 'epoch') AS at", ...by, 'outcome'],
            hasHours
              ? `SELECT cut, hour AS at, ${list([...by, 'outcome'])} FROM rollup_hour_cuts
                WHERE cut = '${cut}' AND ${isOf(day, 'hour')} AND ${hasCuts('hour')}`
              : undefined,
            day,
            `AND ${hasCuts('minute')}`,
          ),
        )
        .join(' UNION ALL '),
  },
  {
    rule: 'every sum by day matches its requests, in each of its cuts',
    query: (day) =>
      cuts
        .map(({ cut, by }) =>
          differences(
            [`'${cut}' AS at`, ...by, 'outcome'],
            `SELECT cut AS at, ${list([...by, 'outcome'])} FROM rollup_days WHERE cut = '${cut}' AND ${isOf(day, 'day')}`,
            day,
          ),
        )
        .join(' UNION ALL '),
  },
  {
    rule: 'every sum by minute matches its requests',
    query: (day, minutesFrom) =>
      differences(
        ['minute AS at', 'channel', 'outcome'],
        `SELECT minute AS at, channel, outcome, ${sumNames.join(', ')} FROM rollup_minutes
          WHERE ${isOf(day, 'minute')} AND minute >= date_bin('1 minute', '${minutesFrom}', 'epoch')`,
        day,
        `AND minute >= date_bin('1 minute', '${minutesFrom}', 'epoch')`,
      ),
  },
]

const cuts = [
  { cut: 'tenant', by: ['tenant_id'], isSingle: true },
  { cut: 'tenant_model', by: ['tenant_id', 'model'], isSingle: false },
  { cut: 'key', by: ['tenant_id', 'key_id'], isSingle: false },
  { cut: 'group', by: ['group_id'], isSingle: true },
  { cut: 'model', by: ['model'], isSingle: true },
  { cut: 'channel', by: ['channel'], isSingle: true },
]

/** The hours for which all cuts were written. */
function hasCuts(column: string): string {
  return `${column} >= (SELECT s.hour FROM rollup_hour_cuts_since s)`
}

/**
 * The groups whose rows do not add up to `folded` and the unfolded deltas. If `folded` is undefined, these
 * sums are not kept.
 */
function differences(keys: readonly string[], folded: string | undefined, day: string, more = ''): string {
  if (folded === undefined) return 'SELECT NULL::text AS sample WHERE false'
  const names = keys.map((key) => key.split(' AS ').at(-1) ?? key)
  const signed = (sign: string) => sumNames.map((name) => `${sign}${name} AS ${name}`).join(', ')
  return `SELECT concat_ws(' ', ${names.join(', ')}) || ': requests differ by ' || sum(requests) || ', nano-USD by '
      || sum(cost_nano) || ' and in all by ' || sum(rows) || ' rows' AS sample
    FROM (
      ${folded}
      UNION ALL SELECT ${keys.join(', ')}, ${sumNames.join(', ')} FROM (${countedDeltas}) AS d WHERE ${isOf(day, 'minute')} ${more}
      UNION ALL SELECT ${keys.join(', ')}, ${signed('-')} FROM (${countedRows} WHERE ${isOf(day, 'created_at')}) AS q
      WHERE true ${more}
      UNION ALL SELECT ${keys.join(', ')}, ${signed('-')} FROM deleted_sums WHERE ${isOf(day, 'minute')} ${more}
    ) AS t
    GROUP BY ${names.join(', ')} HAVING ${sumNames.map((name) => `sum(${name}) <> 0`).join(' OR ')}`
}

function list(columns: readonly string[]): string {
  return [...columns, ...sumNames].join(', ')
}

function isOf(day: string, column: string): string {
  return `${column} >= '${day}'::timestamp AT TIME ZONE 'UTC' AND ${column} < ('${day}'::timestamp + interval '1 day') AT TIME ZONE 'UTC'`
}
