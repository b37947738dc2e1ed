-- Release the reservations of ended requests, and take what they cost from their accounts and from the budgets of their
-- keys, of their parents, of their groups and of their tenants, whose ids are those of the accounts. A charge may be the sum
-- over requests of one account, key, group and day. `holders`: release only what these processes hold; NULL: whoever holds
-- it.
CREATE OR REPLACE FUNCTION settle_money(released uuid[], charged_accounts uuid[], charged_keys uuid[], charged_groups uuid[],
  moments timestamptz[], charges bigint[], holders uuid[] DEFAULT NULL)
RETURNS void LANGUAGE plpgsql
-- As in reserve_money.
SET enable_seqscan = off SET jit = off AS $$
DECLARE
  gone uuid[];
  owners uuid[];
  periods text[];
  starts timestamptz[];
  sums bigint[];
BEGIN
  IF cardinality(charges) > 0 THEN
    -- count_new_budgets waits until this is committed, and then sees its requests. Take this lock before any account:
    -- that count may take long, and a charge that waits for it must not keep admissions waiting.
    PERFORM pg_advisory_xact_lock_shared(7023915);
  END IF;

  -- Release only these: the account of a reservation that appears later is not locked.
  SELECT coalesce(array_agg(v.request_id), '{}') INTO gone FROM reservations v WHERE v.request_id = ANY (released);
  PERFORM 1 FROM accounts a WHERE a.id IN (
    SELECT v.account_id FROM reservations v WHERE v.request_id = ANY (gone) UNION SELECT unnest(charged_accounts)
  ) ORDER BY a.id FOR UPDATE;
  -- Look again under the locks: meanwhile a job may have taken a reservation over, or another call released it.
  SELECT coalesce(array_agg(s.request_id), '{}') INTO gone
  FROM (
    SELECT v.request_id FROM reservations v
    WHERE v.request_id = ANY (gone) AND (holders IS NULL OR v.instance_id = ANY (holders))
    ORDER BY v.request_id FOR UPDATE
  ) AS s;

  IF cardinality(charges) > 0 THEN
    SELECT array_agg(s.owner_id), array_agg(s.period), array_agg(s.starts_at), array_agg(s.charge)
    INTO owners, periods, starts, sums
    FROM (
      SELECT b.owner_id, b.period, period_start(b.period, c.moment) AS starts_at, sum(c.charge)::bigint AS charge
      FROM (
        SELECT unnest(budget_owners(t.key_id, t.group_id) || t.account_id) AS owner_id, t.moment, t.charge
        FROM unnest(charged_accounts, charged_keys, charged_groups, moments, charges) AS t (account_id, key_id, group_id, moment, charge)
      ) AS c
      -- OFFSET 0: each owner is looked up by its id. A plan for all owners at once would read all keys.
      CROSS JOIN LATERAL (SELECT * FROM budgets u WHERE u.owner_id = c.owner_id OFFSET 0) AS b
      GROUP BY 1, 2, 3
    ) AS s;
    -- Nobody is admitted to a period that is over: it needs no row if it has none.
    PERFORM open_budget_periods(array_agg(t.owner_id), array_agg(t.period), array_agg(t.starts_at))
    FROM unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
    WHERE period_end(t.period, t.starts_at) > clock_timestamp() - interval '1 hour' HAVING count(*) > 0;
  END IF;

  PERFORM 1 FROM budget_periods p WHERE p.id IN (
    SELECT unnest(v.budget_period_ids) FROM reservations v WHERE v.request_id = ANY (gone)
    UNION
    SELECT q.id FROM unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
    JOIN budget_periods q ON q.owner_id = t.owner_id AND q.period = t.period AND q.starts_at = t.starts_at
  ) ORDER BY p.id FOR UPDATE;

  WITH freed AS (
    DELETE FROM reservations v WHERE v.request_id = ANY (gone) RETURNING v.account_id, v.amount_nano, v.budget_period_ids
  ), account_sums AS (
    SELECT s.id, sum(s.freed)::bigint AS freed, sum(s.spent)::bigint AS spent
    FROM (
      SELECT f.account_id AS id, f.amount_nano AS freed, 0::bigint AS spent FROM freed f
      UNION ALL
      SELECT t.account_id, 0, t.charge FROM unnest(charged_accounts, charges) AS t (account_id, charge)
    ) AS s GROUP BY s.id
  ), period_sums AS (
    SELECT s.id, sum(s.freed)::bigint AS freed, sum(s.spent)::bigint AS spent
    FROM (
      SELECT unnest(f.budget_period_ids) AS id, f.amount_nano AS freed, 0::bigint AS spent FROM freed f
      UNION ALL
      SELECT p.id, 0, t.charge
      FROM unnest(owners, periods, starts, sums) AS t (owner_id, period, starts_at, charge)
      JOIN budget_periods p ON p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
    ) AS s GROUP BY s.id
  ), accounted AS (
    UPDATE accounts a SET reserved_nano = a.reserved_nano - s.freed, balance_nano = a.balance_nano - s.spent
    FROM account_sums s WHERE a.id = s.id
  )
  UPDATE budget_periods p SET reserved_nano = p.reserved_nano - s.freed, spent_nano = p.spent_nano + s.spent
  FROM period_sums s WHERE p.id = s.id;
END $$;
