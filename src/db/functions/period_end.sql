-- When a period that begins at `starts_at` ends, in UTC. A total never ends.
CREATE OR REPLACE FUNCTION period_end(period text, starts_at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE STRICT AS $$
  SELECT CASE period
    WHEN 'day' THEN (starts_at AT TIME ZONE 'UTC' + interval '1 day') AT TIME ZONE 'UTC'
    WHEN 'month' THEN (starts_at AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'
    ELSE 'infinity'
  END
$$;
