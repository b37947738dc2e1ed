-- Move at most so many of the oldest deltas into the sums. NULL: another process does so now. Else their number: where it is as
-- high as `most`, call it again. Minutes and hours that are no longer kept are left out.
CREATE OR REPLACE FUNCTION fold_rollups(most integer, keep_hours integer, keep_minutes integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  -- In the order of the tables.
  names text[] := '{rows,requests,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,reasoning_tokens,images,cost_nano,unpriced,total_latency,first_token_latency,uncharged_nano}';
  numerics text[] := '{cost_nano,total_latency,first_token_latency,uncharged_nano}';
  summed text := (SELECT string_agg(format('sum(%1$I)::%2$s AS %1$I', n.name, CASE WHEN n.name = ANY (numerics) THEN 'numeric' ELSE 'bigint' END),
    ', ' ORDER BY n.place) FROM unnest(names) WITH ORDINALITY AS n (name, place));
  added text := (SELECT string_agg(format('%1$I = r.%1$I + excluded.%1$I', n.name), ', ') FROM unnest(names) AS n (name));
  taken_deltas integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7023917) THEN RETURN NULL; END IF;
  -- Folds of an earlier release wrote no cuts by hour, and a row may be a little ahead of this clock.
  INSERT INTO rollup_hour_cuts_since
  SELECT CASE WHEN EXISTS (SELECT FROM rollup_hours) THEN date_bin('1 hour', now(), 'epoch') + interval '2 hours' ELSE 'epoch' END
  WHERE NOT EXISTS (SELECT FROM rollup_hour_cuts_since);
  -- One statement: a delta is in all sums or in none.
  EXECUTE format($fold$
    WITH taken AS (
      DELETE FROM rollup_deltas WHERE ctid = ANY (ARRAY(SELECT d.ctid FROM rollup_deltas d LIMIT $1)) RETURNING *
    ), counted AS (
      -- The rows of a day that waits to be counted are counted then.
      SELECT * FROM taken
      WHERE NOT EXISTS (SELECT 1 FROM rollup_backfill)
        OR (minute AT TIME ZONE 'UTC')::date <> ALL (ARRAY(SELECT b.day FROM rollup_backfill b))
    ), minutes AS (
      INSERT INTO rollup_minutes AS r
      SELECT minute, channel, outcome, %1$s FROM counted
      WHERE minute >= now() - make_interval(mins => $3) GROUP BY 1, 2, 3
      ON CONFLICT ON CONSTRAINT rollup_minutes_parts DO UPDATE SET %2$s
    ), hourly AS MATERIALIZED (
      SELECT date_bin('1 hour', minute, 'epoch') AS hour, tenant_id, key_id, group_id, model, channel, outcome, %1$s
      FROM counted GROUP BY 1, 2, 3, 4, 5, 6, 7
    ), hours AS (
      INSERT INTO rollup_hours AS r SELECT * FROM hourly WHERE hour >= now() - make_interval(hours => $2)
      ON CONFLICT ON CONSTRAINT rollup_hours_parts DO UPDATE SET %2$s
    ), hour_cuts AS (
      INSERT INTO rollup_hour_cuts AS r
      SELECT hour, CASE grouping(tenant_id, group_id, model, channel) WHEN 7 THEN 'tenant' WHEN 11 THEN 'group' WHEN 13 THEN 'model'
          ELSE 'channel' END,
        tenant_id, group_id, model, channel, outcome, %1$s
      FROM hourly WHERE hour >= now() - make_interval(hours => $2)
      GROUP BY 1, outcome, GROUPING SETS ((tenant_id), (group_id), (model), (channel))
      ON CONFLICT ON CONSTRAINT rollup_hour_cuts_parts DO UPDATE SET %2$s
    ), days AS (
      INSERT INTO rollup_days AS r
      SELECT date_bin('1 day', hour, 'epoch'),
        CASE grouping(tenant_id, key_id, group_id, model, channel) WHEN 15 THEN 'tenant' WHEN 13 THEN 'tenant_model'
          WHEN 7 THEN 'key' WHEN 27 THEN 'group' WHEN 29 THEN 'model' ELSE 'channel' END,
        tenant_id, key_id, group_id, model, channel, outcome, %1$s
      FROM hourly
      GROUP BY 1, outcome, GROUPING SETS ((tenant_id), (tenant_id, model), (tenant_id, key_id), (group_id), (model), (channel))
      ON CONFLICT ON CONSTRAINT rollup_days_parts DO UPDATE SET %2$s
    ), months AS (
      INSERT INTO rollup_months AS r
      SELECT date_trunc('month', hour, 'UTC'),
        CASE grouping(tenant_id, group_id, model, channel) WHEN 7 THEN 'tenant' WHEN 11 THEN 'group' WHEN 13 THEN 'model'
          ELSE 'channel' END,
        tenant_id, group_id, model, channel, outcome, %1$s
      FROM hourly GROUP BY 1, outcome, GROUPING SETS ((tenant_id), (group_id), (model), (channel))
      ON CONFLICT ON CONSTRAINT rollup_months_parts DO UPDATE SET %2$s
    )
    SELECT count(*) FROM taken
  $fold$, summed, added) INTO taken_deltas USING most, keep_hours, keep_minutes;
  RETURN taken_deltas;
END $$;
