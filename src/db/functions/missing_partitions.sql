-- The daily partitions that the usage log needs and does not have: of today (UTC), of the given number of days after it, and
-- of every day that has rows in a DEFAULT partition. Rows go there when their day has no partition.
CREATE OR REPLACE FUNCTION missing_partitions(days_ahead integer) RETURNS TABLE (parent text, day date) LANGUAGE plpgsql AS $$
BEGIN
  FOREACH parent IN ARRAY ARRAY['requests', 'request_tags', 'request_payloads', 'request_answers', 'attempts'] LOOP
    FOR day IN EXECUTE format(
      'SELECT (now() AT TIME ZONE ''UTC'')::date + ahead FROM generate_series(0, $1) AS ahead
       UNION SELECT DISTINCT (created_at AT TIME ZONE ''UTC'')::date FROM %I ORDER BY 1', parent || '_default')
      USING days_ahead
    LOOP
      IF to_regclass(quote_ident(parent || to_char(day, '_YYYYMMDD'))) IS NULL THEN RETURN NEXT; END IF;
    END LOOP;
  END LOOP;
END $$;
