-- Second step of the move of `entries`: read all rows and see that they keep the CHECK of bound_entries. Writers go on. False:
-- there is nothing to do, or a row has come that does not keep it; bound_entries then begins anew.
-- Raises lock_not_available (55P03) as make_partition does.
CREATE OR REPLACE FUNCTION check_entries_bound() RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
DECLARE
  bound text;
BEGIN
  SELECT c.conname INTO bound FROM pg_constraint c
  WHERE c.conrelid = to_regclass('entries') AND c.conname ~ '^entries_before_[0-9]{8}$' AND NOT c.convalidated;
  IF NOT FOUND THEN RETURN false; END IF;
  BEGIN
    EXECUTE format('ALTER TABLE entries VALIDATE CONSTRAINT %I', bound);
    RETURN true;
  EXCEPTION WHEN check_violation THEN
    EXECUTE format('ALTER TABLE entries DROP CONSTRAINT %I', bound);
    RETURN false;
  END;
END $$;
