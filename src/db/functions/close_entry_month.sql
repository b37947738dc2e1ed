-- Close a month: write its checkpoints, the sum of its entries for each account. Nobody waits for it. False: the month is
-- closed, or another process closes it, or watch_entry_month comes first.
CREATE OR REPLACE FUNCTION close_entry_month(closing date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  found_month record;
BEGIN
  SELECT m.partition, m.starts_at, m.ends_at INTO found_month FROM entry_months m
  WHERE m.month = closing AND m.closed_at IS NULL FOR UPDATE SKIP LOCKED;
  IF NOT FOUND OR NOT EXISTS (
    SELECT 1 FROM pg_trigger t
    WHERE t.tgrelid = to_regclass(quote_ident(found_month.partition)) AND t.tgname = 'count_late_entry'
  ) THEN RETURN false; END IF;
  -- One statement, so one snapshot: it sums the entries that it sees, and deletes the rows that the trigger wrote for some of
  -- them. An entry that is committed later is not in the sum, and its row stays.
  WITH counted AS (DELETE FROM entry_checkpoints c WHERE c.month = closing)
  INSERT INTO entry_checkpoints (month, account_id, sum_nano, entries)
  SELECT closing, e.account_id, sum(e.amount_nano), count(*) FROM entries e
  WHERE e.created_at >= found_month.starts_at AND e.created_at < found_month.ends_at GROUP BY e.account_id;
  UPDATE entry_months m SET closed_at = clock_timestamp() WHERE m.month = closing;
  RETURN true;
END $$;
