-- Delete days older than 40 days and months older than 400, unless something is held of them. Rows that are locked are
-- left for the next time.
CREATE OR REPLACE FUNCTION forget_budget_periods() RETURNS integer LANGUAGE plpgsql AS $$
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
END $$;
