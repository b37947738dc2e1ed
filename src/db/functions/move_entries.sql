-- Last step of the move of `entries` into months: the table becomes the first partition of a new one. An empty table needs no
-- earlier step. Statements that wait for the lock, or were prepared before, find the new table by its name.
-- False: there is nothing to do, or another process works on partitions. Raises lock_not_available (55P03) as make_partition
-- does.
CREATE OR REPLACE FUNCTION move_entries() RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  old oid := to_regclass('entries');
  bound_name text;
  bound date;
  bound_moment timestamptz;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = old AND c.relkind = 'r') THEN RETURN false; END IF;
  IF NOT pg_try_advisory_xact_lock(7023912) THEN RETURN false; END IF;
  SELECT c.conname, to_date(right(c.conname, 8), 'YYYYMMDD') INTO bound_name, bound FROM pg_constraint c
  WHERE c.conrelid = old AND c.conname ~ '^entries_before_[0-9]{8}$' AND c.convalidated;
  IF bound IS NULL AND EXISTS (SELECT 1 FROM entries) THEN RETURN false; END IF;
  LOCK TABLE entries IN ACCESS EXCLUSIVE MODE;
  -- Another process may have been here meanwhile.
  IF to_regclass('entries') <> old OR bound IS NULL AND EXISTS (SELECT 1 FROM entries) THEN RETURN false; END IF;
  bound := coalesce(bound, date_trunc('month', now() AT TIME ZONE 'UTC')::date);
  bound_moment := bound::timestamp AT TIME ZONE 'UTC';
  ALTER TABLE entries RENAME TO entries_before;
  -- Without a key: it could not be that of the id alone. Each partition has one.
  CREATE TABLE entries (LIKE entries_before INCLUDING DEFAULTS) PARTITION BY RANGE (created_at);
  EXECUTE format('ALTER TABLE entries ATTACH PARTITION entries_before FOR VALUES FROM (MINVALUE) TO (%L)', bound_moment);
  IF bound_name IS NOT NULL THEN EXECUTE format('ALTER TABLE entries_before DROP CONSTRAINT %I', bound_name); END IF;
  CREATE TABLE entries_default PARTITION OF entries (PRIMARY KEY (id)) DEFAULT;
  INSERT INTO entry_months (month, partition, starts_at, ends_at)
  VALUES (bound - interval '1 month', 'entries_before', '-infinity', bound_moment);
  RETURN true;
END $$;
