-- Drop a daily partition whose rows a verified file of the archive has, in one transaction with the record of that file.
--   dropped: only the archive has the rows now.
--   changed: the partition has other rows than the file. It stays.
--   busy: another process works on partitions. Later it may go.
--   unknown: the file is not verified (any more).
-- It also is `dropped` when retention has dropped the partition since: its rows are in no other file.
-- Raises lock_not_available (55P03) as make_partition does. Writers of this day wait while it sums up the partition; readers do
-- not.
CREATE OR REPLACE FUNCTION drop_archived_partition(archived_table text, archived_day date, archived_part integer)
RETURNS text LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  child text := archived_table || to_char(archived_day, '_YYYYMMDD');
  expected jsonb;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7023912) THEN RETURN 'busy'; END IF;
  SELECT a.sums INTO expected FROM archived_days a
  WHERE a.table_name = archived_table AND a.day = archived_day AND a.part = archived_part AND a.state = 'verified' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'unknown'; END IF;
  IF to_regclass(quote_ident(child)) IS NOT NULL THEN
    -- No row can come between the sums and the drop.
    EXECUTE format('LOCK TABLE %I IN EXCLUSIVE MODE', child);
    IF archive_sums(child) IS DISTINCT FROM expected THEN RETURN 'changed'; END IF;
    EXECUTE format('DROP TABLE %I', child);
  END IF;
  UPDATE archived_days a SET state = 'dropped', dropped_at = clock_timestamp()
  WHERE a.table_name = archived_table AND a.day = archived_day AND a.part = archived_part;
  RETURN 'dropped';
END $$;
