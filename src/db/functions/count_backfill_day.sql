-- Count the rows of a day that were there before the sums, and those that have come since: their deltas are taken away, and
-- deltas of the whole day take their place. Writers go on meanwhile: a row and its delta are of one transaction, so one
-- statement sees both or none, and what it does not see stays in the deltas. It waits for a fold, and for who makes partitions.
-- False: the day does not wait. Raises lock_not_available (55P03) where it would wait longer.
CREATE OR REPLACE FUNCTION count_backfill_day(counted_day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
  first_moment timestamptz := counted_day::timestamp AT TIME ZONE 'UTC';
  next_moment timestamptz := (counted_day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
  PERFORM pg_advisory_xact_lock(7023917);
  PERFORM pg_advisory_xact_lock(7023912);
  DELETE FROM rollup_backfill b WHERE b.day = counted_day;
  IF NOT FOUND THEN RETURN false; END IF;
  WITH counted_now AS (
    DELETE FROM rollup_deltas d WHERE d.minute >= first_moment AND d.minute < next_moment
  )
  INSERT INTO rollup_deltas
  SELECT date_bin('1 minute', c.created_at, 'epoch'), c.tenant_id, c.key_id, c.group_id,
    CASE WHEN c.error_kind = 'model_not_found' THEN NULL ELSE c.requested_model END, c.channel, c.outcome,
    count(*), sum(c.folded), coalesce(sum(c.input_tokens), 0), coalesce(sum(c.cache_read_tokens), 0),
    coalesce(sum(c.cache_write_tokens), 0), coalesce(sum(c.output_tokens), 0),
    coalesce(sum(c.reasoning_tokens), 0), coalesce(sum(c.images), 0), coalesce(sum(c.cost_nano), 0),
    coalesce(sum(c.folded) FILTER (WHERE c.cost_nano IS NULL), 0),
    coalesce(sum(latency_count(c.total_ms)) FILTER (WHERE c.outcome <> 'orphaned'), 0),
    coalesce(sum(latency_count(c.first_token_ms)) FILTER (WHERE c.outcome <> 'orphaned'), 0),
    coalesce(sum(c.cost_nano - c.charged_nano), 0)
  FROM requests c WHERE c.created_at >= first_moment AND c.created_at < next_moment GROUP BY 1, 2, 3, 4, 5, 6, 7;
  RETURN true;
END $$;
