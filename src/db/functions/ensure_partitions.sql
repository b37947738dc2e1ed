-- Make the daily partitions of today (UTC), of the given number of days after it, and of every day that has rows in the
-- DEFAULT partition. Rows go there when their day has no partition. Postgres refuses to make a partition while its rows
-- are in DEFAULT, so this moves them. Idempotent; takes no lock when nothing is missing.
CREATE OR REPLACE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  day date;
  child text;
  first_moment timestamptz;
  next_moment timestamptz;
  made integer := 0;
BEGIN
  FOREACH parent IN ARRAY ARRAY['requests', 'request_tags', 'request_payloads', 'attempts'] LOOP
    FOR day IN EXECUTE format(
      'SELECT (now() AT TIME ZONE ''UTC'')::date + ahead FROM generate_series(0, $1) AS ahead
       UNION SELECT DISTINCT (created_at AT TIME ZONE ''UTC'')::date FROM %I ORDER BY 1', parent || '_default')
      USING days_ahead
    LOOP
      child := parent || to_char(day, '_YYYYMMDD');
      CONTINUE WHEN to_regclass(quote_ident(child)) IS NOT NULL;
      -- The parent first, as writers do: nobody can then be half-way between it and DEFAULT.
      EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
      CONTINUE WHEN to_regclass(quote_ident(child)) IS NOT NULL;
      first_moment := day::timestamp AT TIME ZONE 'UTC';
      next_moment := (day + 1)::timestamp AT TIME ZONE 'UTC';
      EXECUTE format('CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT * FROM %I WHERE created_at >= $1 AND created_at < $2',
        parent || '_default') USING first_moment, next_moment;
      EXECUTE format('DELETE FROM %I WHERE created_at >= $1 AND created_at < $2', parent || '_default')
        USING first_moment, next_moment;
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', child, parent, first_moment, next_moment);
      EXECUTE format('INSERT INTO %I SELECT * FROM moved', child);
      DROP TABLE moved;
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;
