-- Drop the daily partitions of one table that hold only rows older than the given number of days.
CREATE OR REPLACE FUNCTION drop_partitions(parent text, keep_days integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  child text;
  dropped integer := 0;
BEGIN
  FOR child IN
    SELECT c.relname FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass(quote_ident(parent)) AND c.relname ~ '_[0-9]{8}$'
      AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - keep_days
    ORDER BY 1
  LOOP
    EXECUTE format('DROP TABLE %I', child);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
