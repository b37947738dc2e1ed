-- Have late entries of a month counted from now on. Call it before close_entry_month, in a transaction of its own: its lock
-- waits for running transactions that have booked entries of this month. False: they are counted already.
-- Raises lock_not_available (55P03) as make_partition does.
CREATE OR REPLACE FUNCTION watch_entry_month(watched date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  child text := (SELECT m.partition FROM entry_months m WHERE m.month = watched);
BEGIN
  IF child IS NULL OR EXISTS (
    SELECT 1 FROM pg_trigger t WHERE t.tgrelid = to_regclass(quote_ident(child)) AND t.tgname = 'count_late_entry'
  ) THEN RETURN false; END IF;
  EXECUTE format('CREATE OR REPLACE TRIGGER count_late_entry AFTER INSERT ON %I FOR EACH ROW EXECUTE FUNCTION count_late_entry(%L)', child,
    watched);
  RETURN true;
END $$;
