-- When the period around a moment begins, in UTC. A total begins with the epoch.
CREATE OR REPLACE FUNCTION period_start(period text, moment timestamptz) RETURNS timestamptz LANGUAGE sql STABLE STRICT AS $$
  SELECT CASE period WHEN 'total' THEN to_timestamp(0) ELSE date_trunc(period, moment, 'UTC') END
$$;
