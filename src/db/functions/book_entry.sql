-- Book a top-up or an adjustment once. Verdicts: `booked`; `repeated`: the same entry is there already; `conflict`:
-- another entry has the id; `taken`: a request has the id, and its charge may need it; `unknown`: there is no such
-- account; `held`: a limited account would have less than running requests hold of it; `excessive`: the sum does not fit
-- into a number. Answers the balance, and what is held of it, as they are afterwards.
CREATE OR REPLACE FUNCTION book_entry(entry uuid, account uuid, entry_kind text, amount bigint, entry_note text,
  OUT verdict text, OUT booked_at timestamptz, OUT balance bigint, OUT held bigint, OUT is_limited boolean)
LANGUAGE plpgsql AS $$
DECLARE
  earlier record;
BEGIN
  SELECT a.balance_nano, a.reserved_nano, a.limited INTO balance, held, is_limited FROM accounts a WHERE a.id = account FOR UPDATE;
  IF NOT FOUND THEN
    verdict := 'unknown';
    RETURN;
  END IF;
  -- An operator may send the same id for two accounts, or twice around the end of a month. Each partition has a key of its own.
  PERFORM pg_advisory_xact_lock(hashtextextended(entry::text, 7023916));
  SELECT e.account_id, e.created_at, e.kind, e.amount_nano, e.note INTO earlier FROM entries e WHERE e.id = entry;
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
    OR EXISTS (SELECT 1 FROM jobs i WHERE i.id = entry)
    OR EXISTS (SELECT 1 FROM requests r WHERE r.id = entry AND r.created_at = uuid_moment(entry))
    -- A running request that holds nothing may have only its body here.
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
END $$;
