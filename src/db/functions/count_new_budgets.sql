-- Count what the owner of a new budget has spent in its periods, as far as the usage log has it. The trigger runs at the
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
  wanted record;
  spent bigint;
  periods text[] := '{}';
  starts timestamptz[] := '{}';
  sums bigint[] := '{}';
BEGIN
  PERFORM hold_charges();
  moment := clock_timestamp();
  -- All sums first, then the rows: a transaction that waits for these rows may have locked accounts.
  FOR wanted IN
    SELECT DISTINCT f.period, period_start(f.period, moment + a.ahead) AS starts_at
    FROM unnest(fresh) AS f (period), unnest(ARRAY[interval '-1 hour', interval '0', interval '1 hour']) AS a (ahead)
  LOOP
    IF TG_TABLE_NAME = 'keys' THEN
      SELECT coalesce(sum(r.cost_nano), 0) INTO spent FROM requests r
      WHERE r.tenant_id = NEW.tenant_id
        AND (r.key_id = NEW.id OR r.key_id IN (SELECT k.id FROM keys k WHERE k.parent_id = NEW.id))
        AND r.created_at >= wanted.starts_at AND r.created_at < period_end(wanted.period, wanted.starts_at);
    ELSE
      -- Not by the tenants of its keys, which would use an index: a tenant's only key may have left the group.
      SELECT coalesce(sum(r.cost_nano), 0) INTO spent FROM requests r
      WHERE r.group_id = NEW.id
        AND r.created_at >= wanted.starts_at AND r.created_at < period_end(wanted.period, wanted.starts_at);
    END IF;
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
