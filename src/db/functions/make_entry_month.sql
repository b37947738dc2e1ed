-- Make the partition of `entries` for a month, which follows the last one, and move its rows out of the DEFAULT partition.
-- False: it is there already, or another process works on partitions. Raises lock_not_available (55P03) as make_partition does.
CREATE OR REPLACE FUNCTION make_entry_month(new_month date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  child text := 'entries_' || to_char(new_month, 'YYYYMM');
  first_moment timestamptz := new_month::timestamp AT TIME ZONE 'UTC';
  next_moment timestamptz := (new_month + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
  IF NOT pg_try_advisory_xact_lock(7023912) OR first_moment IS DISTINCT FROM (SELECT max(m.ends_at) FROM entry_months m) THEN
    RETURN false;
  END IF;
  -- As in make_partition.
  LOCK TABLE entries IN ACCESS EXCLUSIVE MODE;
  EXECUTE format('CREATE TABLE %I (LIKE entries INCLUDING DEFAULTS, PRIMARY KEY (id))', child);
  EXECUTE format('WITH gone AS (DELETE FROM entries_default WHERE created_at >= $1 AND created_at < $2 RETURNING *)
    INSERT INTO %I SELECT * FROM gone', child) USING first_moment, next_moment;
  EXECUTE format('ALTER TABLE entries ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', child, first_moment, next_moment);
  INSERT INTO entry_months (month, partition, starts_at, ends_at) VALUES (new_month, child, first_moment, next_moment);
  RETURN true;
END $$;
