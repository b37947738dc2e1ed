/** The part of the ledger that is recomputed. Times are in SQL format. */
export interface VerifyScope {
  /** Requests and charges before this are ignored; `-infinity`: none are. */
  since: string
  /** Months before this are closed and represented by their checkpoints; `-infinity`: none are. */
  openFrom: string
  /** The first time from which both requests and charges are available. */
  bothFrom: string
}

export interface Rule {
  rule: string
  query: string
}

/** Rows from before charges were recorded were charged their cost. */
const chargedOfRow = 'coalesce(charged_nano, cost_nano)'

/** Violated after a restore until a gateway starts, because the former processes no longer exist. */
export const heardOfRule = 'every live process has sent a heartbeat within the last hour'

/**
 * The rules. Each query returns the rows that violate its rule, as one text column `sample`. It is a single
 * statement, so it sees one snapshot, and it can also be run in psql.
 */
export function rulesOf(scope: VerifyScope): readonly Rule[] {
  return [...moneyRules(scope), ...runningRules(scope), ...chargeRules(scope), ...rowRules(scope)]
}

function moneyRules({ since, openFrom }: VerifyScope): Rule[] {
  return [
    {
      rule: "every account's balance is the sum of its entries",
      query: `SELECT a.id || ': balance ' || a.balance_nano || ', entries ' || coalesce(s.entries, 0) AS sample
        FROM accounts a LEFT JOIN (
          SELECT t.account_id, sum(t.nano) AS entries
          FROM (
            SELECT account_id, sum(amount_nano) AS nano FROM entries WHERE created_at >= '${openFrom}' GROUP BY 1
            UNION ALL
            SELECT c.account_id, c.sum_nano FROM entry_checkpoints c JOIN entry_months m ON m.month = c.month
            WHERE m.ends_at <= '${openFrom}'
          ) AS t GROUP BY 1
        ) AS s ON s.account_id = a.id
        WHERE a.balance_nano <> coalesce(s.entries, 0)`,
    },
    {
      rule: "every account's reserved money is the sum of its reservations",
      query: `SELECT a.id || ': reserved ' || a.reserved_nano || ', reservations ' || coalesce(sum(v.amount_nano), 0) AS sample
        FROM accounts a LEFT JOIN reservations v ON v.account_id = a.id
        GROUP BY a.id HAVING a.reserved_nano <> coalesce(sum(v.amount_nano), 0)`,
    },
    {
      rule: "every budget's reserved money is the sum of the reservations that name its period",
      query: `SELECT p.owner_id || ' ' || p.period || ' ' || p.starts_at || ': reserved ' || p.reserved_nano || ', reservations '
          || coalesce(v.held, 0) AS sample
        FROM budget_periods p LEFT JOIN (
          SELECT t.id, sum(t.amount_nano) AS held
          FROM (SELECT unnest(budget_period_ids) AS id, amount_nano FROM reservations) AS t GROUP BY t.id
        ) AS v ON v.id = p.id
        WHERE p.reserved_nano <> coalesce(v.held, 0)`,
    },
    {
      // Periods of removed budgets are ignored, because no charge counts towards them. A period may have
      // spent more than the log shows if the log no longer reaches back to its start. For a total, this
      // cannot be determined.
      rule: "every budget's spent money matches the charges in its period",
      query: `SELECT p.owner_id || ' ' || p.period || ' ' || p.starts_at || ': spent ' || p.spent_nano || ', requests ' || l.charged AS sample
        FROM budget_periods p
        JOIN budgets b ON b.owner_id = p.owner_id AND b.period = p.period
        JOIN (
          SELECT q.id, coalesce(sum(c.charged), 0) AS charged
          FROM budget_periods q LEFT JOIN (
            SELECT o.owner_id, date_trunc('day', r.created_at, 'UTC') AS day, sum(r.charged) AS charged
            FROM (
              SELECT created_at, tenant_id, key_id, group_id, ${chargedOfRow} AS charged FROM requests
              UNION ALL SELECT minute, tenant_id, key_id, group_id, cost_nano - uncharged_nano FROM deleted_sums
            ) AS r LEFT JOIN keys k ON k.id = r.key_id
            CROSS JOIN LATERAL (VALUES (r.key_id), (k.parent_id), (r.group_id), (r.tenant_id)) AS o (owner_id)
            WHERE r.charged > 0 AND o.owner_id IS NOT NULL AND ${isIn('r', since)} GROUP BY 1, 2
          ) AS c ON c.owner_id = q.owner_id AND c.day >= q.starts_at AND c.day < period_end(q.period, q.starts_at)
          GROUP BY q.id
        ) AS l ON l.id = p.id
        WHERE p.spent_nano < l.charged OR p.spent_nano > l.charged AND p.period <> 'total' AND p.starts_at >= '${since}'
          AND to_regclass('requests_' || to_char(p.starts_at AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NOT NULL`,
    },
    {
      rule: 'no limited account is below zero',
      query: `SELECT id || ': ' || balance_nano AS sample FROM accounts WHERE limited AND balance_nano < 0`,
    },
  ]
}

function runningRules({ since }: VerifyScope): Rule[] {
  return [
    {
      rule: 'every reservation belongs to a live process or to a job that has not ended',
      query: `SELECT v.request_id || ' of instance ' || v.instance_id AS sample
        FROM reservations v LEFT JOIN instances i ON i.id = v.instance_id AND i.state = 'live'
        WHERE i.id IS NULL AND NOT EXISTS (
          SELECT 1 FROM jobs j WHERE j.id = v.request_id AND j.state IN ('queued', 'running'))`,
    },
    {
      rule: 'every ended job has a request with the same cost',
      query: `SELECT j.id || ' ' || j.state || ': cost ' || coalesce(j.cost_nano::text, 'not known') AS sample
        FROM jobs j LEFT JOIN requests r ON r.id = j.id AND r.created_at = j.created_at
        WHERE j.state IN ('succeeded', 'failed', 'cancelled')
          AND (r.id IS NULL OR r.cost_nano IS DISTINCT FROM j.cost_nano)
          AND ${isIn('j', since)} AND j.created_at >= coalesce((SELECT min(created_at) FROM requests), now())`,
    },
    {
      rule: heardOfRule,
      query: `SELECT id || ' on ' || host || ', last heard of ' || heartbeat_at AS sample
        FROM instances WHERE state = 'live' AND heartbeat_at < now() - interval '1 hour'`,
    },
  ]
}

function chargeRules({ since, bothFrom }: VerifyScope): Rule[] {
  return [
    {
      rule: 'every request was charged what its row says',
      query: `SELECT r.id || ': row ' || r.charged || ', charged ' || coalesce((-e.amount_nano)::text, 'nothing') AS sample
        FROM (SELECT id, created_at, ${chargedOfRow} AS charged FROM requests
          WHERE ${chargedOfRow} > 0 AND tenant_id IS NOT NULL AND created_at >= '${bothFrom}') AS r
        LEFT JOIN (SELECT id, created_at, amount_nano FROM entries WHERE created_at >= '${bothFrom}') AS e
          ON e.id = r.id AND e.created_at = r.created_at
        WHERE e.amount_nano IS DISTINCT FROM -r.charged`,
    },
    {
      rule: 'no request was charged more than it cost',
      query: `SELECT id || ': cost ' || coalesce(cost_nano::text, 'not known') || ', charged ' || charged_nano AS sample FROM requests
        WHERE charged_nano > coalesce(cost_nano, 0) AND ${isIn('requests', since)}`,
    },
    {
      // For rows that have since been deleted, a tenant's charges of a day must add up to the sums of those
      // rows.
      rule: 'every charge has its request',
      query: `SELECT coalesce(c.account_id, d.tenant_id) || ' on ' || (coalesce(c.day, d.day) AT TIME ZONE 'UTC')::date || ': charged '
          || coalesce(c.nano, 0) || ' without a request, deleted rows ' || coalesce(d.nano, 0)
          || coalesce(', the first of them ' || c.sample, '') AS sample
        FROM (
          SELECT e.account_id, date_trunc('day', e.created_at, 'UTC') AS day, -sum(e.amount_nano) AS nano, min(e.id::text) AS sample
          FROM (SELECT id, account_id, created_at, amount_nano FROM entries
            WHERE kind = 'charge' AND created_at >= '${bothFrom}') AS e
          LEFT JOIN (SELECT id, created_at FROM requests WHERE created_at >= '${bothFrom}') AS r
            ON r.id = e.id AND r.created_at = e.created_at
          WHERE r.id IS NULL GROUP BY 1, 2
        ) AS c FULL JOIN (
          SELECT tenant_id, date_trunc('day', minute, 'UTC') AS day, sum(cost_nano - uncharged_nano) AS nano FROM deleted_sums
          WHERE cost_nano - uncharged_nano > 0 AND minute >= date_trunc('day', '${bothFrom}'::timestamptz, 'UTC') GROUP BY 1, 2
        ) AS d ON d.tenant_id = c.account_id AND d.day = c.day
        WHERE coalesce(c.nano, 0) > coalesce(d.nano, 0)
          OR coalesce(c.nano, 0) < d.nano AND coalesce(c.day, d.day) >= '${bothFrom}'::timestamptz`,
    },
    {
      // This way, two charges for a request would be in the same partition, whose key rejects the second one.
      rule: 'the time of every charge is the one inside its id',
      query: `SELECT id || ' at ' || created_at AS sample FROM entries
        WHERE kind = 'charge' AND created_at >= '${since}' AND created_at <> uuid_moment(id)`,
    },
  ]
}

function rowRules({ since }: VerifyScope): Rule[] {
  return [
    {
      rule: 'the time of every request is the one inside its id',
      query: `SELECT id || ' at ' || created_at AS sample FROM requests WHERE created_at >= '${since}' AND created_at <> uuid_moment(id)`,
    },
    {
      rule: 'every request has as many attempts as it counts',
      query: `SELECT r.id || ': counts ' || r.attempt_count || ', has ' || count(a.request_id) FILTER (WHERE NOT a.passed_over) AS sample
        FROM requests r LEFT JOIN attempts a ON a.request_id = r.id AND a.created_at = r.created_at AND ${isIn('a', since)}
        WHERE ${isIn('r', since)} GROUP BY r.id, r.created_at, r.attempt_count HAVING r.attempt_count <> count(a.request_id) FILTER (WHERE NOT a.passed_over)`,
    },
    {
      rule: 'every attempt has a request',
      query: `SELECT a.request_id || ' attempt ' || a.ordinal AS sample
        FROM attempts a LEFT JOIN requests r ON r.id = a.request_id AND r.created_at = a.created_at AND ${isIn('r', since)}
        WHERE r.id IS NULL AND ${isIn('a', since)}`,
    },
    {
      rule: 'every request is found by its tags, and by no others',
      query: `SELECT coalesce(r.id, t.request_id) || ' tag ' || coalesce(r.tag, t.tag) AS sample
        FROM (
          SELECT q.tenant_id, unnest(q.tags) AS tag, q.created_at, q.id FROM requests q WHERE q.tenant_id IS NOT NULL AND ${isIn('q', since)}
        ) AS r
        FULL JOIN (SELECT * FROM request_tags WHERE created_at >= '${since}') AS t
          ON t.tenant_id = r.tenant_id AND t.tag = r.tag AND t.created_at = r.created_at AND t.request_id = r.id
        WHERE r.id IS NULL OR t.request_id IS NULL`,
    },
    {
      // The body of a running request is shipped before its row.
      rule: 'every body older than two hours has a request',
      query: `SELECT p.request_id::text AS sample
        FROM request_payloads p LEFT JOIN requests r ON r.id = p.request_id AND r.created_at = p.created_at
        WHERE r.id IS NULL AND p.created_at < now() - interval '2 hours' AND ${isIn('p', since)}`,
    },
    {
      // This sum decides whether storing more is refused.
      rule: "every tenant's storage is the sum of what is kept for it",
      query: `SELECT coalesce(s.tenant_id, k.tenant_id) || ': booked ' || coalesce(s.bytes, 0) || ', kept ' || coalesce(k.bytes, 0) AS sample
        FROM tenant_storage s FULL JOIN (
          SELECT a.tenant_id, sum(a.bytes) AS bytes
          FROM (
            SELECT tenant_id, bytes FROM kept_answers UNION ALL SELECT tenant_id, bytes FROM conversations
            UNION ALL SELECT tenant_id, bytes FROM files UNION ALL SELECT tenant_id, bytes FROM idempotency_keys
            UNION ALL SELECT tenant_id, bytes FROM background_answers
          ) AS a WHERE a.tenant_id IS NOT NULL GROUP BY 1
        ) AS k ON k.tenant_id = s.tenant_id
        WHERE coalesce(s.bytes, 0) <> coalesce(k.bytes, 0)`,
    },
  ]
}

function isIn(table: string, since: string): string {
  return `${table}.created_at >= '${since}'`
}
