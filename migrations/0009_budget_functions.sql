-- Money: what is held of accounts and budgets, what they are charged, what is booked by hand. Locks are taken in this
-- order, here and everywhere: the lock of charges (7023915), accounts by id, reservations by id, new rows of
-- budget_periods by owner, period and start, rows of it by id. Who waits for a lock holds only earlier ones, so that nobody
-- deadlocks. The first of them may be held for as long as a sum over the usage log takes: admissions never ask for it.

-- Keep everybody from charging until this transaction ends, and wait for those who do. Of locks on money it is the first.
CREATE FUNCTION hold_charges() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7023915)
$$;--> statement-breakpoint

-- The budgets that stand, by their owner.
CREATE VIEW budgets (owner_id, owner, period, limit_nano) AS
  SELECT k.id, 'key', b.period, b.limit_nano
  FROM keys k CROSS JOIN LATERAL (
    VALUES ('day', k.budget_day_nano), ('month', k.budget_month_nano), ('total', k.budget_total_nano)
  ) AS b (period, limit_nano)
  WHERE b.limit_nano IS NOT NULL
  UNION ALL
  SELECT g.id, 'group', b.period, b.limit_nano
  FROM key_groups g CROSS JOIN LATERAL (
    VALUES ('day', g.budget_day_nano), ('month', g.budget_month_nano), ('total', g.budget_total_nano)
  ) AS b (period, limit_nano)
  WHERE b.limit_nano IS NOT NULL;--> statement-breakpoint

-- Where the period around a moment begins, in UTC; one without an end begins with the epoch.
CREATE FUNCTION period_start(period text, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE STRICT AS $$
  SELECT CASE period WHEN 'total' THEN to_timestamp(0) ELSE date_trunc(period, moment, 'UTC') END
$$;--> statement-breakpoint
CREATE FUNCTION period_end(period text, starts_at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE STRICT AS $$
  SELECT CASE period
    WHEN 'day' THEN (starts_at AT TIME ZONE 'UTC' + interval '1 day') AT TIME ZONE 'UTC'
    WHEN 'month' THEN (starts_at AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'
    ELSE 'infinity'
  END
$$;--> statement-breakpoint

CREATE FUNCTION open_budget_periods(owners uuid[], periods text[], starts timestamptz[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO budget_periods (owner_id, period, starts_at)
  SELECT t.owner_id, t.period, t.starts_at
  FROM unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
  WHERE NOT EXISTS (
    SELECT 1 FROM budget_periods p WHERE p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
  )
  ORDER BY t.owner_id, t.period, t.starts_at
  ON CONFLICT DO NOTHING
$$;--> statement-breakpoint

-- Admission: hold money for as many of the given requests as can be borne, in the order given. A request needs room in
-- its account, where that is limited, and in every budget of its key and its group, of the period around the moment in
-- its id: all or none. One call, one transaction, for all requests that waited (group commit). Answers each of them:
-- `granted`; `busy`, there is room once what runs has ended; `insufficient`, there is not even then. With the latter two
-- the pot that is fullest, what is left of it, and what of that is free now.
CREATE FUNCTION reserve_money(instance uuid, request_ids uuid[], account_ids uuid[], key_ids uuid[], group_ids uuid[],
  amounts bigint[])
RETURNS TABLE (request uuid, verdict text, pot text, left_nano bigint, free_nano bigint) LANGUAGE plpgsql
-- All of it is found by indexes. A plan that was made while a table was small would else stay with reading all of it.
SET enable_seqscan = off AS $$
DECLARE
  owners uuid[];
  kinds text[];
  periods text[];
  starts timestamptz[];
  limits bigint[];
  -- Pots: limited accounts and budget periods, by id.
  pot_ids uuid[];
  names text[];
  lefts bigint[];
  frees bigint[];
  before bigint[];
  granted uuid[] := '{}';
  wish record;
  i integer;
  short integer;
  busy integer;
BEGIN
  PERFORM 1 FROM accounts a WHERE a.id = ANY (account_ids) ORDER BY a.id FOR UPDATE;

  SELECT array_agg(s.owner_id), array_agg(s.owner), array_agg(s.period), array_agg(s.starts_at), array_agg(s.limit_nano)
  INTO owners, kinds, periods, starts, limits
  FROM (
    SELECT DISTINCT b.owner_id, b.owner, b.period, b.limit_nano, period_start(b.period, o.day) AS starts_at
    FROM (
      SELECT DISTINCT unnest(ARRAY[t.key_id, t.group_id]) AS owner_id,
        date_trunc('day', uuid_moment(t.request_id), 'UTC') AS day
      FROM unnest(request_ids, key_ids, group_ids) AS t (request_id, key_id, group_id)
    ) AS o JOIN budgets b ON b.owner_id = o.owner_id
  ) AS s;
  IF owners IS NOT NULL THEN
    PERFORM open_budget_periods(owners, periods, starts);
    PERFORM 1 FROM budget_periods p
    JOIN unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
      ON p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
    ORDER BY p.id FOR UPDATE OF p;
  END IF;

  SELECT coalesce(array_agg(s.id ORDER BY s.id), '{}'), array_agg(s.name ORDER BY s.id),
    array_agg(s.remains ORDER BY s.id), array_agg(s.remains - s.reserved_nano ORDER BY s.id)
  INTO pot_ids, names, lefts, frees
  FROM (
    SELECT a.id, 'balance' AS name, a.balance_nano AS remains, a.reserved_nano
    FROM accounts a WHERE a.id = ANY (account_ids) AND a.limited
    UNION ALL
    SELECT p.id, t.kind || ' ' || t.period, t.limit_nano - p.spent_nano, p.reserved_nano
    FROM unnest(owners, kinds, periods, starts, limits) AS t (owner_id, kind, period, starts_at, limit_nano)
    JOIN budget_periods p ON p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
  ) AS s;
  before := frees;

  FOR wish IN
    WITH wishes AS (
      SELECT t.*, date_trunc('day', uuid_moment(t.request_id), 'UTC') AS day
      FROM unnest(request_ids, account_ids, key_ids, group_ids, amounts) WITH ORDINALITY
        AS t (request_id, account_id, key_id, group_id, amount, place)
    ), touched AS (
      SELECT w.place, w.account_id AS pot_id FROM wishes w
      UNION ALL
      SELECT w.place, p.id
      FROM wishes w
      CROSS JOIN LATERAL unnest(ARRAY[w.key_id, w.group_id]) AS o (owner_id)
      CROSS JOIN (VALUES ('day'), ('month'), ('total')) AS v (period)
      JOIN budget_periods p ON p.owner_id = o.owner_id AND p.period = v.period AND p.starts_at = period_start(v.period, w.day)
    ), numbered AS (
      -- The place among the sorted pots, by binary search.
      SELECT t.place, width_bucket(t.pot_id, pot_ids) AS n FROM touched t
      WHERE pot_ids[width_bucket(t.pot_id, pot_ids)] = t.pot_id
    )
    SELECT w.request_id, w.account_id, w.amount, coalesce(array_agg(n.n) FILTER (WHERE n.n IS NOT NULL), '{}') AS pots
    FROM wishes w LEFT JOIN numbered n USING (place)
    GROUP BY w.place, w.request_id, w.account_id, w.amount ORDER BY w.place
  LOOP
    short := NULL;
    busy := NULL;
    FOREACH i IN ARRAY wish.pots LOOP
      IF wish.amount > lefts[i] AND (short IS NULL OR lefts[i] < lefts[short]) THEN short := i; END IF;
      IF wish.amount > frees[i] AND (busy IS NULL OR frees[i] < frees[busy]) THEN busy := i; END IF;
    END LOOP;
    request := wish.request_id;
    IF busy IS NULL THEN
      FOREACH i IN ARRAY wish.pots LOOP
        frees[i] := frees[i] - wish.amount;
      END LOOP;
      INSERT INTO reservations (request_id, account_id, instance_id, amount_nano, budget_period_ids, created_at)
      VALUES (wish.request_id, wish.account_id, instance, wish.amount,
        ARRAY(SELECT pot_ids[n] FROM unnest(wish.pots) AS n WHERE names[n] <> 'balance'), now());
      granted := granted || wish.request_id;
      verdict := 'granted';
      pot := NULL;
      left_nano := NULL;
      free_nano := NULL;
    ELSE
      verdict := CASE WHEN short IS NULL THEN 'busy' ELSE 'insufficient' END;
      pot := names[coalesce(short, busy)];
      left_nano := lefts[coalesce(short, busy)];
      free_nano := frees[coalesce(short, busy)];
    END IF;
    RETURN NEXT;
  END LOOP;

  UPDATE accounts a SET reserved_nano = a.reserved_nano + s.held
  FROM (
    SELECT t.account_id, sum(t.amount)::bigint AS held
    FROM unnest(request_ids, account_ids, amounts) AS t (request_id, account_id, amount)
    WHERE t.request_id = ANY (granted) GROUP BY t.account_id
  ) AS s WHERE a.id = s.account_id;
  UPDATE budget_periods p SET reserved_nano = p.reserved_nano + (t.was - t.is)
  FROM unnest(pot_ids, before, frees) AS t (id, was, "is") WHERE p.id = t.id AND t.was <> t.is;
END $$;--> statement-breakpoint

-- Settlement: release the reservations of ended requests and take what they cost, from their accounts and from the
-- budgets that their keys and groups have. Charges may be sums over requests of one account, key, group and day.
-- `holders`: release only what these processes hold; NULL, whoever does.
CREATE FUNCTION settle_money(released uuid[], charged_accounts uuid[], charged_keys uuid[], charged_groups uuid[],
  moments timestamptz[], charges bigint[], holders uuid[] DEFAULT NULL)
RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  gone uuid[];
  owners uuid[];
  periods text[];
  starts timestamptz[];
  sums bigint[];
BEGIN
  IF cardinality(charges) > 0 THEN
    -- Who counts what a new budget's owner has spent waits until this is committed, and sees its requests. Before any
    -- account: that count may take long, and whoever waits for it must not keep others from being admitted.
    PERFORM pg_advisory_xact_lock_shared(7023915);
  END IF;

  -- What is released is among these: a reservation that appears later is of an account that is not locked.
  SELECT coalesce(array_agg(v.request_id), '{}') INTO gone FROM reservations v WHERE v.request_id = ANY (released);
  PERFORM 1 FROM accounts a WHERE a.id IN (
    SELECT v.account_id FROM reservations v WHERE v.request_id = ANY (gone) UNION SELECT unnest(charged_accounts)
  ) ORDER BY a.id FOR UPDATE;
  -- Only now is it fixed: meanwhile a job may have taken one over, or another have released it.
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
        SELECT unnest(ARRAY[t.key_id, t.group_id]) AS owner_id, t.moment, t.charge
        FROM unnest(charged_keys, charged_groups, moments, charges) AS t (key_id, group_id, moment, charge)
      ) AS c JOIN budgets b ON b.owner_id = c.owner_id
      GROUP BY 1, 2, 3
    ) AS s;
    -- A period that is over is admitted to no more: where nothing was kept of it, nothing need be.
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
END $$;--> statement-breakpoint

CREATE FUNCTION release_reservations(requests uuid[], holders uuid[] DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
  SELECT settle_money(requests, '{}', '{}', '{}', '{}', '{}', holders)
$$;--> statement-breakpoint

-- Release whatever dead processes still held, all of it at once: one after the other, their accounts would be locked in
-- any order.
CREATE FUNCTION release_instances(instances uuid[]) RETURNS void LANGUAGE sql AS $$
  SELECT release_reservations(coalesce(array_agg(v.request_id), '{}'), instances)
  FROM reservations v WHERE v.instance_id = ANY (instances)
$$;--> statement-breakpoint

-- Adoption, and by hand.
CREATE OR REPLACE FUNCTION release_instance(instance uuid) RETURNS void LANGUAGE sql AS $$
  SELECT release_instances(ARRAY[instance])
$$;--> statement-breakpoint

-- As before, but all at once. Accounts first and the instances last, as adoption does.
CREATE OR REPLACE FUNCTION retire_lost_instances(caller uuid) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  lost uuid[] := ARRAY(
    SELECT i.id FROM instances i
    WHERE i.state = 'live' AND i.heartbeat_at < now() - interval '24 hours' AND i.id <> caller
  );
BEGIN
  IF lost = '{}' THEN RETURN; END IF;
  PERFORM release_instances(lost);
  PERFORM 1 FROM instances i WHERE i.id = ANY (lost) ORDER BY i.id FOR UPDATE;
  RETURN QUERY UPDATE instances i SET state = 'lost' WHERE i.id = ANY (lost) AND i.state = 'live' RETURNING i.id;
END $$;--> statement-breakpoint

-- Release reservations that outlived their row: one committed after its request had given up waiting for it.
CREATE OR REPLACE FUNCTION sweep_reservations() RETURNS void LANGUAGE sql AS $$
  SELECT release_reservations(coalesce(array_agg(v.request_id), '{}'))
  FROM reservations v
  JOIN requests r ON r.id = v.request_id AND r.created_at = uuid_moment(v.request_id)
  WHERE v.created_at < now() - interval '10 seconds'
$$;--> statement-breakpoint

-- A budget that is new counts what its owner has spent in its periods, as far as the usage log has it. It runs at the
-- end of the transaction that sets the budget: those that charge meanwhile are waited for, and later ones see the budget.
-- Where that transaction locks accounts, it calls hold_charges before. Of the hours around a change of period both are
-- counted, since the moments in ids are of the gateway's clocks.
CREATE FUNCTION count_new_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
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
  -- All sums first, then the rows: whoever waits for one of those may hold accounts.
  FOR wanted IN
    SELECT DISTINCT f.period, period_start(f.period, moment + a.ahead) AS starts_at
    FROM unnest(fresh) AS f (period), unnest(ARRAY[interval '-1 hour', interval '0', interval '1 hour']) AS a (ahead)
  LOOP
    IF TG_TABLE_NAME = 'keys' THEN
      SELECT coalesce(sum(r.cost_nano), 0) INTO spent FROM requests r
      WHERE r.tenant_id = NEW.tenant_id AND r.key_id = NEW.id
        AND r.created_at >= wanted.starts_at AND r.created_at < period_end(wanted.period, wanted.starts_at);
    ELSE
      -- Not by the tenants of its keys: keys that have left the group may have been the only ones of theirs.
      SELECT coalesce(sum(r.cost_nano), 0) INTO spent FROM requests r
      WHERE r.group_id = NEW.id
        AND r.created_at >= wanted.starts_at AND r.created_at < period_end(wanted.period, wanted.starts_at);
    END IF;
    periods := periods || wanted.period;
    starts := starts || wanted.starts_at;
    sums := sums || spent;
  END LOOP;
  PERFORM 1 FROM budget_periods p WHERE p.owner_id = NEW.id AND p.period = ANY (fresh) ORDER BY p.id FOR UPDATE;
  -- What was kept of earlier periods has gaps.
  DELETE FROM budget_periods p
  WHERE p.owner_id = NEW.id AND p.period = ANY (fresh) AND p.starts_at < period_start(p.period, moment - interval '1 hour');
  INSERT INTO budget_periods AS p (owner_id, period, starts_at, spent_nano)
  SELECT NEW.id, t.period, t.starts_at, t.spent
  FROM unnest(periods, starts, sums) AS t (period, starts_at, spent) ORDER BY t.period, t.starts_at
  ON CONFLICT (owner_id, period, starts_at) DO UPDATE SET spent_nano = greatest(p.spent_nano, excluded.spent_nano);
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE CONSTRAINT TRIGGER count_new_budgets AFTER UPDATE OF "budget_day_nano", "budget_month_nano", "budget_total_nano" ON "keys"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.budget_day_nano IS NULL AND NEW.budget_day_nano IS NOT NULL
    OR OLD.budget_month_nano IS NULL AND NEW.budget_month_nano IS NOT NULL
    OR OLD.budget_total_nano IS NULL AND NEW.budget_total_nano IS NOT NULL)
  EXECUTE FUNCTION count_new_budgets();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER count_new_budgets AFTER UPDATE OF "budget_day_nano", "budget_month_nano", "budget_total_nano" ON "key_groups"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.budget_day_nano IS NULL AND NEW.budget_day_nano IS NOT NULL
    OR OLD.budget_month_nano IS NULL AND NEW.budget_month_nano IS NOT NULL
    OR OLD.budget_total_nano IS NULL AND NEW.budget_total_nano IS NOT NULL)
  EXECUTE FUNCTION count_new_budgets();--> statement-breakpoint

-- Delete what nobody asks any more: days older than 40 days and months older than 400, unless something holds them.
-- What is locked just now waits for the next time.
CREATE FUNCTION forget_budget_periods() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  forgotten integer;
BEGIN
  DELETE FROM budget_periods WHERE id IN (
    SELECT p.id FROM budget_periods p
    WHERE p.reserved_nano = 0 AND (p.period = 'day' AND p.starts_at < now() - interval '40 days'
      OR p.period = 'month' AND p.starts_at < now() - interval '400 days')
    ORDER BY p.id FOR UPDATE SKIP LOCKED
  );
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  RETURN forgotten;
END $$;--> statement-breakpoint

-- Book a top-up or an adjustment once. Verdicts: `booked`; `repeated`, it stands already; `conflict`, another entry has
-- its id; `taken`, a request has it, whose charge may yet need it; `unknown`, there is no such account; `held`, a limited
-- account would come to have less than running requests hold of it; `excessive`, no number holds the sum. The balance and
-- what is held are those of afterwards.
CREATE FUNCTION book_entry(entry uuid, account uuid, entry_kind text, amount bigint, entry_note text,
  OUT verdict text, OUT booked_at timestamptz, OUT balance bigint, OUT held bigint, OUT is_limited boolean)
LANGUAGE plpgsql AS $$
DECLARE
  earlier entries;
BEGIN
  SELECT a.balance_nano, a.reserved_nano, a.limited INTO balance, held, is_limited FROM accounts a WHERE a.id = account FOR UPDATE;
  IF NOT FOUND THEN
    verdict := 'unknown';
    RETURN;
  END IF;
  SELECT * INTO earlier FROM entries e WHERE e.id = entry;
  IF FOUND THEN
    booked_at := earlier.created_at;
    verdict := CASE
      WHEN earlier.account_id = account AND earlier.kind = entry_kind AND earlier.amount_nano = amount
        AND earlier.note IS NOT DISTINCT FROM entry_note THEN 'repeated'
      ELSE 'conflict'
    END;
    RETURN;
  END IF;
  IF EXISTS (SELECT 1 FROM reservations v WHERE v.request_id = entry)
    OR EXISTS (SELECT 1 FROM image_jobs i WHERE i.id = entry)
    OR EXISTS (SELECT 1 FROM requests r WHERE r.id = entry AND r.created_at = uuid_moment(entry))
    -- Of a request that runs and holds nothing, its body may be all that is here.
    OR EXISTS (SELECT 1 FROM request_payloads p WHERE p.request_id = entry AND p.created_at = uuid_moment(entry))
  THEN
    verdict := 'taken';
    RETURN;
  END IF;
  IF abs(balance::numeric + amount) > 1e18 THEN
    verdict := 'excessive';
    RETURN;
  END IF;
  IF is_limited AND amount < 0 AND balance + amount < held THEN
    verdict := 'held';
    RETURN;
  END IF;
  INSERT INTO entries (id, account_id, created_at, kind, amount_nano, note)
  VALUES (entry, account, clock_timestamp(), entry_kind, amount, entry_note)
  ON CONFLICT DO NOTHING RETURNING created_at INTO booked_at;
  IF NOT FOUND THEN
    verdict := 'conflict';
    RETURN;
  END IF;
  UPDATE accounts a SET balance_nano = a.balance_nano + amount WHERE a.id = account RETURNING a.balance_nano INTO balance;
  verdict := 'booked';
END $$;--> statement-breakpoint

-- Image jobs: as before, but the money is held by reserve_money, and charged to budgets too.

-- Keep the job and feed the queue: all or nothing. `amount`: NULL where nothing is limited; else what the caller had
-- reserve_money hold, which from now on is the job's and no process's. Asked again with the same id, it changes nothing
-- and answers as the first time. Verdicts: `accepted`; `insufficient`, the money is held no more and cannot be held
-- again; `full`, as many of the tenant's jobs wait as may.
CREATE OR REPLACE FUNCTION accept_image_job(job jsonb, sealed_request bytea, sealed_webhook bytea, amount bigint, queue_window integer,
  waiting_max integer, OUT verdict text, OUT enqueue text[]) LANGUAGE plpgsql AS $$
DECLARE
  j image_jobs := jsonb_populate_record(NULL::image_jobs, job);
  nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
  verdict := 'accepted';
  enqueue := '{}';
  -- The tenant's lock first: of one request that is sent twice, the second finds what the first did.
  PERFORM pg_advisory_xact_lock(hashtextextended(j.tenant_id::text, 7023913));
  IF EXISTS (SELECT 1 FROM image_jobs WHERE id = j.id) THEN RETURN; END IF;
  IF waiting_max <= (
    SELECT count(*) FROM (
      SELECT 1 FROM image_jobs WHERE tenant_id = j.tenant_id AND state = 'queued' AND enqueued_at IS NULL LIMIT waiting_max
    ) AS waiting
  ) THEN
    verdict := 'full';
    RETURN;
  END IF;
  IF amount IS NOT NULL THEN
    -- Of no process: the job outlives whichever accepted it.
    UPDATE reservations SET instance_id = nobody WHERE request_id = j.id AND amount_nano >= amount;
    IF NOT FOUND AND (
      SELECT r.verdict <> 'granted'
      FROM reserve_money(nobody, ARRAY[j.id], ARRAY[j.tenant_id], ARRAY[j.key_id], ARRAY[j.group_id], ARRAY[amount]) AS r
    ) THEN
      verdict := 'insufficient';
      RETURN;
    END IF;
  END IF;
  INSERT INTO image_jobs (id, tenant_id, key_id, group_id, state, priority, model, request, quote, opened, body, created_at,
    webhook_url)
  VALUES (j.id, j.tenant_id, j.key_id, j.group_id, 'queued', j.priority, j.model, sealed_request, j.quote, j.opened, j.body,
    uuid_moment(j.id), sealed_webhook);
  enqueue := feed_image_jobs(j.tenant_id, queue_window);
END $$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION disown_image_job(job uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE image_jobs i
  SET state = 'cancelled', finished_at = clock_timestamp(), leased_until = NULL, channel_id = NULL, request = NULL, body = NULL,
    webhook_url = NULL, cost_nano = r.cost_nano
  FROM requests r WHERE i.id = job AND r.id = i.id AND r.created_at = i.created_at;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM release_reservations(ARRAY[job]);
  PERFORM pg_notify('tollgate_image_jobs', job::text);
  RETURN true;
END $$;--> statement-breakpoint

CREATE OR REPLACE FUNCTION finish_image_job(job uuid, held_fence integer, from_state text, to_state text, row_json jsonb, attempts_json jsonb,
  made_attempts text, job_result text, job_error text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  j image_jobs;
  r requests := jsonb_populate_record(NULL::requests, row_json);
  charge bigint := greatest(coalesce(r.cost_nano, 0), 0);
BEGIN
  PERFORM 1 FROM image_jobs WHERE id = job AND fence = held_fence AND state = from_state FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  IF disown_image_job(job) THEN RETURN true; END IF;
  UPDATE image_jobs
  SET state = to_state, finished_at = clock_timestamp(), leased_until = NULL, channel_id = NULL, not_before = NULL,
    attempts = made_attempts, result = job_result, error = job_error, cost_nano = r.cost_nano, request = NULL,
    webhook_state = CASE WHEN webhook_url IS NULL THEN NULL ELSE 'pending' END,
    webhook_at = CASE WHEN webhook_url IS NULL THEN NULL ELSE clock_timestamp() END
  WHERE id = job RETURNING * INTO j;
  INSERT INTO requests SELECT r.*;
  INSERT INTO request_payloads (request_id, created_at, capture, body)
  SELECT job, j.created_at, j.opened::jsonb ->> 'capture', j.body WHERE j.body IS NOT NULL;
  -- Attempts of a job that began before they said whether a candidate was passed over: none was.
  INSERT INTO attempts
  SELECT * FROM jsonb_populate_recordset(jsonb_populate_record(NULL::attempts, '{"passed_over": false}'), attempts_json);
  IF charge > 0 THEN
    INSERT INTO entries (id, account_id, created_at, kind, amount_nano) VALUES (job, j.tenant_id, j.created_at, 'charge', -charge);
  END IF;
  UPDATE image_jobs SET body = NULL WHERE id = job AND body IS NOT NULL;
  -- Last, because it locks accounts that admissions wait for.
  IF charge > 0 THEN
    PERFORM settle_money(ARRAY[job], ARRAY[j.tenant_id], ARRAY[j.key_id], ARRAY[j.group_id], ARRAY[j.created_at], ARRAY[charge]);
  ELSE
    PERFORM release_reservations(ARRAY[job]);
  END IF;
  PERFORM pg_notify('tollgate_image_jobs', job::text);
  RETURN true;
END $$;--> statement-breakpoint

DROP FUNCTION reserve_accounts(uuid, uuid[], uuid[], bigint[]);--> statement-breakpoint
DROP FUNCTION settle_accounts(uuid[], uuid[], bigint[]);
