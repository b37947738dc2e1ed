-- Drop one daily partition. False: it is gone already, or another process works on partitions.
-- Raises lock_not_available (55P03) as make_partition does. DETACH PARTITION CONCURRENTLY would wait without keeping writers
-- waiting, but Postgres refuses it for a table with a DEFAULT partition.
CREATE OR REPLACE FUNCTION drop_partition(child text) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(7023912) OR to_regclass(quote_ident(child)) IS NULL THEN RETURN false; END IF;
  EXECUTE format('DROP TABLE %I', child);
  RETURN true;
END $$;
