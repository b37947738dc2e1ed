-- Make one daily partition, and move the rows of its day out of the DEFAULT partition: Postgres refuses to make a partition
-- while its rows are there. False: it is there already, or another process works on partitions.
-- Raises lock_not_available (55P03) when a lock is not free within 50 ms: all writers of the table wait behind us meanwhile.
-- Call it in a transaction of its own, which holds no lock that writers need.
CREATE OR REPLACE FUNCTION make_partition(parent text, day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  child text := parent || to_char(day, '_YYYYMMDD');
  first_moment timestamptz := day::timestamp AT TIME ZONE 'UTC';
  next_moment timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
  IF NOT pg_try_advisory_xact_lock(7023912) OR to_regclass(quote_ident(child)) IS NOT NULL THEN RETURN false; END IF;
  -- The parent first, as writers do: nobody can then be half-way between it and DEFAULT. A weaker lock, as ATTACH PARTITION
  -- takes, would let a writer go on to DEFAULT, and Postgres would refuse its row.
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT * FROM %I WHERE created_at >= $1 AND created_at < $2',
    parent || '_default') USING first_moment, next_moment;
  EXECUTE format('DELETE FROM %I WHERE created_at >= $1 AND created_at < $2', parent || '_default')
    USING first_moment, next_moment;
  EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', child, parent, first_moment, next_moment);
  EXECUTE format('INSERT INTO %I SELECT * FROM moved', child);
  DROP TABLE moved;
  RETURN true;
END $$;
