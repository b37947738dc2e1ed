-- What a partition of the usage log and its file in the archive are compared by: the number of rows, and for each column the
-- count of its values and a sum that follows from them. src/archive/sums.ts computes the same in DuckDB.
CREATE OR REPLACE FUNCTION archive_sums(child text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  parts text[] := ARRAY[quote_literal('rows'), 'count(*)::text'];
  named record;
  result jsonb;
BEGIN
  FOR named IN
    SELECT quote_ident(a.attname) AS quoted, a.attname::text AS name, format_type(a.atttypid, NULL) AS type FROM pg_attribute a
    WHERE a.attrelid = to_regclass(quote_ident(child)) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
  LOOP
    parts := parts || quote_literal(named.name) || format('concat(count(%s), '' '', coalesce(sum(%s), 0))', named.quoted,
      CASE named.type
        WHEN 'boolean' THEN named.quoted || '::integer'
        WHEN 'smallint' THEN named.quoted
        WHEN 'integer' THEN named.quoted
        WHEN 'bigint' THEN named.quoted
        WHEN 'uuid' THEN format('(''x0'' || right(replace(%s::text, ''-'', ''''), 15))::bit(64)::bigint', named.quoted)
        WHEN 'timestamp with time zone' THEN format('(extract(epoch FROM %s) * 1000000)::bigint', named.quoted)
        WHEN 'text[]' THEN format('cardinality(%1$s) + octet_length(array_to_string(%1$s, ''''))', named.quoted)
        WHEN 'text' THEN format('octet_length(%s)', named.quoted)
        ELSE format('octet_length(%s::text)', named.quoted)
      END);
  END LOOP;
  EXECUTE format('SELECT jsonb_object(ARRAY[%s]) FROM %I', array_to_string(parts, ', '), child) INTO result;
  RETURN result;
END $$;
