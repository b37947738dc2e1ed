-- Admission: hold money for as many of the given requests as their accounts can bear, in the order given.
-- Answers the ids that were granted. One call, one transaction, for all requests that waited (group commit).
-- Accounts are locked in the order of their ids, here and below, so that no two transactions deadlock.
CREATE FUNCTION reserve_accounts(instance uuid, request_ids uuid[], account_ids uuid[], amounts bigint[])
RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  wish record;
  account uuid;
  free bigint;
  held bigint := 0;
BEGIN
  FOR wish IN
    SELECT t.request_id, t.account_id, t.amount
    FROM unnest(request_ids, account_ids, amounts) WITH ORDINALITY AS t(request_id, account_id, amount, place)
    ORDER BY t.account_id, t.place
  LOOP
    IF wish.account_id IS DISTINCT FROM account THEN
      UPDATE accounts SET reserved_nano = reserved_nano + held WHERE id = account AND held > 0;
      account := wish.account_id;
      held := 0;
      SELECT balance_nano - reserved_nano INTO free FROM accounts WHERE id = account FOR UPDATE;
    END IF;
    IF wish.amount <= free - held THEN
      held := held + wish.amount;
      INSERT INTO reservations (request_id, account_id, instance_id, amount_nano, created_at)
      VALUES (wish.request_id, wish.account_id, instance, wish.amount, now());
      RETURN NEXT wish.request_id;
    END IF;
  END LOOP;
  UPDATE accounts SET reserved_nano = reserved_nano + held WHERE id = account AND held > 0;
END $$;--> statement-breakpoint

-- Settlement: release the reservations of ended requests and take what they cost.
CREATE FUNCTION settle_accounts(released uuid[], charged_accounts uuid[], charges bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM accounts WHERE id IN (
    SELECT account_id FROM reservations WHERE request_id = ANY (released)
    UNION SELECT unnest(charged_accounts)
  ) ORDER BY id FOR UPDATE;
  WITH gone AS (
    DELETE FROM reservations WHERE request_id = ANY (released) RETURNING account_id, amount_nano
  ), moves AS (
    SELECT account_id, amount_nano AS freed, 0::bigint AS spent FROM gone
    UNION ALL
    SELECT t.account_id, 0, t.charge FROM unnest(charged_accounts, charges) AS t(account_id, charge)
  ), sums AS (
    SELECT account_id, sum(freed)::bigint AS freed, sum(spent)::bigint AS spent FROM moves GROUP BY account_id
  )
  UPDATE accounts a
  SET reserved_nano = a.reserved_nano - s.freed, balance_nano = a.balance_nano - s.spent
  FROM sums s WHERE a.id = s.account_id;
END $$;--> statement-breakpoint

-- Adoption: release whatever a dead process still held.
CREATE FUNCTION release_instance(instance uuid) RETURNS void LANGUAGE sql AS $$
  SELECT settle_accounts(coalesce(array_agg(request_id), '{}'), '{}', '{}') FROM reservations WHERE instance_id = instance
$$;
--> statement-breakpoint

-- The millisecond inside a uuidv7, which is the created_at of the row that bears it.
CREATE FUNCTION uuid_moment(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;--> statement-breakpoint

-- Release reservations that outlived their row: one committed after its request had given up waiting for it.
CREATE FUNCTION sweep_reservations() RETURNS void LANGUAGE sql AS $$
  SELECT settle_accounts(coalesce(array_agg(v.request_id), '{}'), '{}', '{}')
  FROM reservations v
  JOIN requests r ON r.id = v.request_id AND r.created_at = uuid_moment(v.request_id)
  WHERE v.created_at < now() - interval '10 seconds'
$$;
