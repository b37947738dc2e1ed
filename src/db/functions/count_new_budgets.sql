-- Count what the owner of a new budget has spent in its periods: the sums by day, the deltas that are not folded, and the rows of
-- days that wait to be counted. The usage log itself would take minutes, and charges wait meanwhile. The trigger runs at the
-- end of the transaction that sets the budget: it waits for running charges, and later charges see the budget. A
-- transaction that also locks accounts calls hold_charges before it does. In the hour before and after the change of a
-- period it counts both periods, because the moments in ids come from the gateway's clocks.
CREATE OR REPLACE FUNCTION count_new_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  fresh text[] := ARRAY(
    SELECT t.period FROM (VALUES
      ('day', OLD.budget_day_nano, NEW.budget_day_nano), ('month', OLD.budget_month_nano, NEW.budget_month_nano),
      ('total', OLD.budget_total_nano, NEW.budget_total_nano)
    ) AS t (period, was, "is") WHERE t.was IS NULL AND t.is IS NOT NULL
  );
  moment timestamptz;
  spender text := CASE TG_TABLE_NAME WHEN 'keys' THEN 'key' WHEN 'tenants' THEN 'tenant' ELSE 'group' END;
  spenders uuid[];
  wanted record;
  ends_at timestamptz;
  spent bigint;
  periods text[] := '{}';
  starts timestamptz[] := '{}';
  sums bigint[] := '{}';
BEGIN
  PERFORM hold_charges();
  moment := clock_timestamp();
  -- A key spends with its sub-keys.
  spenders := NEW.id || ARRAY(SELECT k.id FROM keys k WHERE k.parent_id = NEW.id);
  -- All sums first, then the rows: a transaction that waits for these rows may have locked accounts.
  FOR wanted IN
    SELECT DISTINCT f.period, period_start(f.period, moment + a.ahead) AS starts_at
    FROM unnest(fresh) AS f (period), unnest(ARRAY[interval '-1 hour', interval '0', interval '1 hour']) AS a (ahead)
  LOOP
    ends_at := period_end(wanted.period, wanted.starts_at);
    -- One statement: a delta is either there or in its day.
    EXECUTE format('SELECT coalesce(sum(s.nano), 0) FROM (
      SELECT d.key_id, d.group_id, d.tenant_id, d.cost_nano - d.uncharged_nano AS nano FROM rollup_days d WHERE d.cut = %2$L AND d.day >= $1 AND d.day < $2
      UNION ALL
      SELECT d.key_id, d.group_id, d.tenant_id, d.cost_nano - d.uncharged_nano FROM rollup_deltas d WHERE d.minute >= $1 AND d.minute < $2
        AND NOT EXISTS (SELECT 1 FROM rollup_backfill b WHERE b.day = (d.minute AT TIME ZONE ''UTC'')::date)
      UNION ALL
      SELECT r.key_id, r.group_id, r.tenant_id, coalesce(r.charged_nano, r.cost_nano) FROM rollup_backfill b JOIN requests r
        ON r.created_at >= b.day::timestamp AT TIME ZONE ''UTC'' AND r.created_at < (b.day + 1)::timestamp AT TIME ZONE ''UTC''
      WHERE r.created_at >= $1 AND r.created_at < $2
    ) AS s WHERE s.%1$I = ANY ($3)', spender || '_id', spender) INTO spent USING wanted.starts_at, ends_at, spenders;
    periods := periods || wanted.period;
    starts := starts || wanted.starts_at;
    sums := sums || spent;
  END LOOP;
  PERFORM 1 FROM budget_periods p WHERE p.owner_id = NEW.id AND p.period = ANY (fresh) ORDER BY p.id FOR UPDATE;
  -- Nobody counted while the budget was away: earlier periods have gaps.
  DELETE FROM budget_periods p
  WHERE p.owner_id = NEW.id AND p.period = ANY (fresh) AND p.starts_at < period_start(p.period, moment - interval '1 hour');
  INSERT INTO budget_periods AS p (owner_id, period, starts_at, spent_nano)
  SELECT NEW.id, t.period, t.starts_at, t.spent
  FROM unnest(periods, starts, sums) AS t (period, starts_at, spent) ORDER BY t.period, t.starts_at
  ON CONFLICT (owner_id, period, starts_at) DO UPDATE SET spent_nano = greatest(p.spent_nano, excluded.spent_nano);
  RETURN NULL;
END $$;
