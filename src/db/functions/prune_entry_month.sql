-- Second step of pruning a closed month: the table of keep_entries_by_hand takes the place of its partition. Its checkpoints
-- stay, and late charges go on to add to them. False: as keep_entries_by_hand, or another process works on partitions.
-- Raises lock_not_available (55P03) as make_partition does.
CREATE OR REPLACE FUNCTION prune_entry_month(pruned date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  found_month record;
  kept text;
  first_moment text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7023912) THEN RETURN false; END IF;
  SELECT m.partition, m.starts_at, m.ends_at INTO found_month FROM entry_months m
  WHERE m.month = pruned AND m.closed_at IS NOT NULL AND m.pruned_at IS NULL FOR UPDATE SKIP LOCKED;
  kept := found_month.partition || '_kept';
  IF to_regclass(quote_ident(kept)) IS NULL THEN RETURN false; END IF;
  LOCK TABLE entries IN ACCESS EXCLUSIVE MODE;
  EXECUTE format('DROP TABLE %I', found_month.partition);
  EXECUTE format('ALTER TABLE %I RENAME TO %I', kept, found_month.partition);
  EXECUTE format('CREATE TRIGGER count_late_entry AFTER INSERT ON %I FOR EACH ROW EXECUTE FUNCTION count_late_entry(%L)',
    found_month.partition, pruned);
  first_moment := CASE WHEN isfinite(found_month.starts_at) THEN quote_literal(found_month.starts_at) ELSE 'MINVALUE' END;
  EXECUTE format('ALTER TABLE entries ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', found_month.partition, first_moment,
    found_month.ends_at);
  UPDATE entry_months m SET pruned_at = clock_timestamp() WHERE m.month = pruned;
  RETURN true;
END $$;
