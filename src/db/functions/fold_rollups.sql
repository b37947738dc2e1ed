-- Move at most so many of the oldest deltas into the sums. NULL: another process does so now. Else their number: where it is as
-- high as `most`, call it again. Minutes and hours that are no longer kept are left out.
CREATE OR REPLACE FUNCTION fold_rollups(most integer, keep_hours integer, keep_minutes integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  taken_deltas integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7023917) THEN RETURN NULL; END IF;
  WITH taken AS (
    DELETE FROM rollup_deltas WHERE ctid = ANY (ARRAY(SELECT d.ctid FROM rollup_deltas d LIMIT most)) RETURNING *
  ), counted AS (
    -- The rows of a day that waits to be counted are counted then.
    SELECT * FROM taken t WHERE NOT EXISTS (SELECT 1 FROM rollup_backfill b WHERE b.day = (t.minute AT TIME ZONE 'UTC')::date)
  ), minutes AS (
    INSERT INTO rollup_minutes AS r
    SELECT minute, channel, outcome, sum(rows), sum(requests), sum(input_tokens), sum(cache_read_tokens),
      sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), sum(images), sum(cost_nano), sum(unpriced),
      sum(total_latency), sum(first_token_latency)
    FROM counted WHERE minute >= now() - make_interval(mins => keep_minutes) GROUP BY 1, 2, 3
    ON CONFLICT ON CONSTRAINT rollup_minutes_parts DO UPDATE SET rows = r.rows + excluded.rows,
      requests = r.requests + excluded.requests, input_tokens = r.input_tokens + excluded.input_tokens,
      cache_read_tokens = r.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = r.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = r.output_tokens + excluded.output_tokens,
      reasoning_tokens = r.reasoning_tokens + excluded.reasoning_tokens, images = r.images + excluded.images,
      cost_nano = r.cost_nano + excluded.cost_nano, unpriced = r.unpriced + excluded.unpriced,
      total_latency = r.total_latency + excluded.total_latency,
      first_token_latency = r.first_token_latency + excluded.first_token_latency
  ), hourly AS MATERIALIZED (
    SELECT date_bin('1 hour', minute, 'epoch') AS hour, tenant_id, key_id, group_id, model, channel, outcome,
      sum(rows)::bigint AS rows, sum(requests)::bigint AS requests, sum(input_tokens)::bigint AS input_tokens,
      sum(cache_read_tokens)::bigint AS cache_read_tokens, sum(cache_write_tokens)::bigint AS cache_write_tokens,
      sum(output_tokens)::bigint AS output_tokens, sum(reasoning_tokens)::bigint AS reasoning_tokens,
      sum(images)::bigint AS images, sum(cost_nano) AS cost_nano, sum(unpriced)::bigint AS unpriced,
      sum(total_latency) AS total_latency, sum(first_token_latency) AS first_token_latency
    FROM counted GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), months AS (
    INSERT INTO rollup_months AS r
    SELECT date_trunc('month', hour, 'UTC'),
      CASE grouping(tenant_id, group_id, model, channel) WHEN 7 THEN 'tenant' WHEN 11 THEN 'group' WHEN 13 THEN 'model'
        ELSE 'channel' END,
      tenant_id, group_id, model, channel, outcome, sum(rows), sum(requests), sum(input_tokens), sum(cache_read_tokens),
      sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), sum(images), sum(cost_nano), sum(unpriced),
      sum(total_latency), sum(first_token_latency)
    FROM hourly
    GROUP BY 1, outcome, GROUPING SETS ((tenant_id), (group_id), (model), (channel))
    ON CONFLICT ON CONSTRAINT rollup_months_parts DO UPDATE SET rows = r.rows + excluded.rows,
      requests = r.requests + excluded.requests, input_tokens = r.input_tokens + excluded.input_tokens,
      cache_read_tokens = r.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = r.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = r.output_tokens + excluded.output_tokens,
      reasoning_tokens = r.reasoning_tokens + excluded.reasoning_tokens, images = r.images + excluded.images,
      cost_nano = r.cost_nano + excluded.cost_nano, unpriced = r.unpriced + excluded.unpriced,
      total_latency = r.total_latency + excluded.total_latency,
      first_token_latency = r.first_token_latency + excluded.first_token_latency
  ), hours AS (
    INSERT INTO rollup_hours AS r SELECT * FROM hourly WHERE hour >= now() - make_interval(hours => keep_hours)
    ON CONFLICT ON CONSTRAINT rollup_hours_parts DO UPDATE SET rows = r.rows + excluded.rows,
      requests = r.requests + excluded.requests, input_tokens = r.input_tokens + excluded.input_tokens,
      cache_read_tokens = r.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = r.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = r.output_tokens + excluded.output_tokens,
      reasoning_tokens = r.reasoning_tokens + excluded.reasoning_tokens, images = r.images + excluded.images,
      cost_nano = r.cost_nano + excluded.cost_nano, unpriced = r.unpriced + excluded.unpriced,
      total_latency = r.total_latency + excluded.total_latency,
      first_token_latency = r.first_token_latency + excluded.first_token_latency
  ), days AS (
    INSERT INTO rollup_days AS r
    SELECT date_bin('1 day', hour, 'epoch'),
      CASE grouping(tenant_id, key_id, group_id, model, channel) WHEN 15 THEN 'tenant' WHEN 13 THEN 'tenant_model'
        WHEN 7 THEN 'key' WHEN 27 THEN 'group' WHEN 29 THEN 'model' ELSE 'channel' END,
      tenant_id, key_id, group_id, model, channel, outcome, sum(rows), sum(requests), sum(input_tokens), sum(cache_read_tokens),
      sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), sum(images), sum(cost_nano), sum(unpriced),
      sum(total_latency), sum(first_token_latency)
    FROM hourly
    GROUP BY 1, outcome, GROUPING SETS ((tenant_id), (tenant_id, model), (tenant_id, key_id), (group_id), (model), (channel))
    ON CONFLICT ON CONSTRAINT rollup_days_parts DO UPDATE SET rows = r.rows + excluded.rows,
      requests = r.requests + excluded.requests, input_tokens = r.input_tokens + excluded.input_tokens,
      cache_read_tokens = r.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = r.cache_write_tokens + excluded.cache_write_tokens,
      output_tokens = r.output_tokens + excluded.output_tokens,
      reasoning_tokens = r.reasoning_tokens + excluded.reasoning_tokens, images = r.images + excluded.images,
      cost_nano = r.cost_nano + excluded.cost_nano, unpriced = r.unpriced + excluded.unpriced,
      total_latency = r.total_latency + excluded.total_latency,
      first_token_latency = r.first_token_latency + excluded.first_token_latency
  )
  SELECT count(*) INTO taken_deltas FROM taken;
  RETURN taken_deltas;
END $$;
