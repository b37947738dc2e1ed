-- First step of pruning a closed month: copy what is no charge into a table of its own. An account is opened once, and the
-- entry says whether it was. False: the month is open or pruned, or another process prunes it.
CREATE OR REPLACE FUNCTION keep_entries_by_hand(pruned date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  child text;
BEGIN
  SELECT m.partition INTO child FROM entry_months m
  WHERE m.month = pruned AND m.closed_at IS NOT NULL AND m.pruned_at IS NULL FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  EXECUTE format('DROP TABLE IF EXISTS %I', child || '_kept');
  EXECUTE format('CREATE TABLE %I (LIKE entries INCLUDING DEFAULTS, PRIMARY KEY (id))', child || '_kept');
  EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE kind <> ''charge''', child || '_kept', child);
  RETURN true;
END $$;
