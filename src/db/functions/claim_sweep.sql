-- Claim a sweep that every process would make. True for one process, and once in so many milliseconds. While a transaction
-- that has claimed the sweep is open, others do not wait for it: they get false.
CREATE OR REPLACE FUNCTION claim_sweep(sweep text, apart_ms integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sweeps (name, due_at)
  SELECT sweep, 'epoch' WHERE NOT EXISTS (SELECT 1 FROM sweeps s WHERE s.name = sweep) ON CONFLICT DO NOTHING;
  UPDATE sweeps s SET due_at = clock_timestamp() + apart_ms * interval '1 ms'
  WHERE s.name = (
    SELECT c.name FROM sweeps c
    -- The clock of Postgres may have been set back. The second is for two claims at the same moment: due_at is rounded.
    WHERE c.name = sweep
      AND (c.due_at <= clock_timestamp() OR c.due_at > clock_timestamp() + apart_ms * interval '1 ms' + interval '1 second')
    FOR UPDATE SKIP LOCKED
  );
  RETURN FOUND;
END $$;
