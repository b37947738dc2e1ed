-- Add up the rows that late entries of a closed month have added to its checkpoints. False: another process does it.
CREATE OR REPLACE FUNCTION merge_checkpoints(merged date) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM entry_months m WHERE m.month = merged AND m.closed_at IS NOT NULL FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  WITH gone AS (
    DELETE FROM entry_checkpoints c WHERE c.month = merged AND c.account_id IN (
      SELECT d.account_id FROM entry_checkpoints d WHERE d.month = merged GROUP BY 1 HAVING count(*) > 1
    ) RETURNING c.account_id, c.sum_nano, c.entries
  )
  INSERT INTO entry_checkpoints (month, account_id, sum_nano, entries)
  SELECT merged, g.account_id, sum(g.sum_nano), sum(g.entries) FROM gone g GROUP BY g.account_id;
  RETURN true;
END $$;
