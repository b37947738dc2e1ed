-- First step of the move of `entries` into months: a CHECK that all rows are before some month. It makes the later attachment
-- of the table short. The bound is the month after next, or the one after the latest row: while the move waits, rows beyond it
-- would be refused. A bound that comes near is replaced.
-- False: there is nothing to do. Raises lock_not_available (55P03) as make_partition does.
CREATE OR REPLACE FUNCTION bound_entries() RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  earlier text;
  bound date;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = to_regclass('entries') AND c.relkind = 'r') THEN RETURN false; END IF;
  SELECT c.conname INTO earlier FROM pg_constraint c
  WHERE c.conrelid = to_regclass('entries') AND c.conname ~ '^entries_before_[0-9]{8}$';
  IF to_date(right(earlier, 8), 'YYYYMMDD') > now() + interval '15 days' THEN RETURN false; END IF;
  bound := (SELECT date_trunc('month', greatest(now(), max(e.created_at)) AT TIME ZONE 'UTC') + interval '2 months' FROM entries e);
  IF earlier IS NOT NULL THEN EXECUTE format('ALTER TABLE entries DROP CONSTRAINT %I', earlier); END IF;
  EXECUTE format('ALTER TABLE entries ADD CONSTRAINT %I CHECK (created_at < %L) NOT VALID', 'entries_before_' || to_char(bound, 'YYYYMMDD'),
    bound::timestamp AT TIME ZONE 'UTC');
  RETURN true;
END $$;
