-- The daily partitions of one table that hold only rows older than the given number of days, the oldest first.
CREATE OR REPLACE FUNCTION expired_partitions(parent text, keep_days integer) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT c.relname::text FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = to_regclass(quote_ident(parent)) AND c.relname ~ '_[0-9]{8}$'
    AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - keep_days
  ORDER BY 1
$$;
