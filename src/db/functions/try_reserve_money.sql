-- Admission: hold money for requests, in the order given. A request needs room in its account, where that is limited, and
-- in every budget of its key, of that key's parent, of its group and of its tenant, whose id is that of the account, in the
-- period around the moment in its id: in all of them or in none. One call is one transaction for all requests that waited
-- (group commit). Answers each request: `granted`; `busy`: there is room once running requests have ended; `insufficient`:
-- there is not even then. `busy` and `insufficient` come with the
-- fullest of its pots: its name, what is left of it, and what of that is free now.
-- `waits` false: a request whose account or budget another transaction has locked is answered `locked`, and holds nothing.
-- The other requests then do not wait for that transaction.
CREATE OR REPLACE FUNCTION try_reserve_money(instance uuid, request_ids uuid[], account_ids uuid[], key_ids uuid[], group_ids uuid[],
  amounts bigint[], waits boolean)
RETURNS TABLE (request uuid, verdict text, pot text, left_nano bigint, free_nano bigint) LANGUAGE plpgsql
-- Everything is found by an index. Without this, a plan made while a table was small would go on to read all of it.
-- Before version 18 Postgres takes such plans for dear ones, and would compile them for longer than they run.
SET enable_seqscan = off SET jit = off AS $$
DECLARE
  owners uuid[];
  kinds text[];
  periods text[];
  starts timestamptz[];
  limits bigint[];
  -- Pots are limited accounts and budget periods, in the order of their ids.
  pot_ids uuid[];
  names text[];
  lefts bigint[];
  frees bigint[];
  before bigint[];
  -- The accounts, then the budget periods, that this transaction has locked, and what others have locked: accounts, and
  -- owners of budgets.
  mine uuid[];
  others uuid[] := '{}';
  granted uuid[] := '{}';
  wish record;
  i integer;
  short integer;
  busy integer;
BEGIN
  IF waits THEN
    PERFORM 1 FROM accounts a WHERE a.id = ANY (account_ids) ORDER BY a.id FOR UPDATE;
  ELSE
    SELECT coalesce(array_agg(s.id), '{}') INTO mine
    FROM (SELECT a.id FROM accounts a WHERE a.id = ANY (account_ids) ORDER BY a.id FOR UPDATE SKIP LOCKED) AS s;
    others := ARRAY(SELECT a.id FROM accounts a WHERE a.id = ANY (account_ids) AND a.id <> ALL (mine));
  END IF;

  SELECT array_agg(s.owner_id), array_agg(s.owner), array_agg(s.period), array_agg(s.starts_at), array_agg(s.limit_nano)
  INTO owners, kinds, periods, starts, limits
  FROM (
    SELECT DISTINCT b.owner_id, b.owner, b.period, b.limit_nano, period_start(b.period, o.day) AS starts_at
    FROM (
      SELECT DISTINCT unnest(budget_owners(t.key_id, t.group_id) || t.account_id) AS owner_id,
        date_trunc('day', uuid_moment(t.request_id), 'UTC') AS day
      FROM unnest(request_ids, account_ids, key_ids, group_ids) AS t (request_id, account_id, key_id, group_id)
      WHERE t.account_id <> ALL (others)
    ) AS o
    -- OFFSET 0: as in settle_money.
    CROSS JOIN LATERAL (SELECT * FROM budgets u WHERE u.owner_id = o.owner_id OFFSET 0) AS b
  ) AS s;
  IF owners IS NOT NULL THEN
    PERFORM open_budget_periods(owners, periods, starts);
    IF waits THEN
      PERFORM 1 FROM budget_periods p
      JOIN unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
        ON p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
      ORDER BY p.id FOR UPDATE OF p;
    ELSE
      SELECT coalesce(array_agg(s.id), '{}') INTO mine
      FROM (
        SELECT p.id FROM budget_periods p
        JOIN unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
          ON p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
        ORDER BY p.id FOR UPDATE OF p SKIP LOCKED
      ) AS s;
      others := others || ARRAY(
        SELECT p.owner_id FROM budget_periods p
        JOIN unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
          ON p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
        WHERE p.id <> ALL (mine)
      );
    END IF;
  END IF;
  IF others <> '{}' THEN
    verdict := 'locked';
    FOR request IN
      SELECT t.request_id FROM unnest(request_ids, account_ids, key_ids, group_ids)
        AS t (request_id, account_id, key_id, group_id)
      WHERE t.account_id = ANY (others) OR budget_owners(t.key_id, t.group_id) && others
    LOOP
      RETURN NEXT;
    END LOOP;
    SELECT coalesce(array_agg(t.request_id ORDER BY t.place), '{}'), coalesce(array_agg(t.account_id ORDER BY t.place), '{}'),
      coalesce(array_agg(t.key_id ORDER BY t.place), '{}'), coalesce(array_agg(t.group_id ORDER BY t.place), '{}'),
      coalesce(array_agg(t.amount ORDER BY t.place), '{}')
    INTO request_ids, account_ids, key_ids, group_ids, amounts
    FROM unnest(request_ids, account_ids, key_ids, group_ids, amounts) WITH ORDINALITY
      AS t (request_id, account_id, key_id, group_id, amount, place)
    WHERE t.account_id <> ALL (others) AND NOT budget_owners(t.key_id, t.group_id) && others;
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
      CROSS JOIN LATERAL unnest(budget_owners(w.key_id, w.group_id) || w.account_id) AS o (owner_id)
      CROSS JOIN (VALUES ('day'), ('month'), ('total')) AS v (period)
      JOIN budget_periods p ON p.owner_id = o.owner_id AND p.period = v.period AND p.starts_at = period_start(v.period, w.day)
    ), numbered AS (
      -- width_bucket finds a pot's place among the sorted ids, by binary search.
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
END $$;
