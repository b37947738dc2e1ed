-- Trigger: appends what the rows of a statement add to the sums, or take away where they are deleted. Notes rows for tails. Rows that
-- make_partition moves do not come here: it writes to the partitions themselves. An orphan has no latency: nobody saw its end.
CREATE OR REPLACE FUNCTION note_request_sums() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO rollup_deltas
  SELECT date_bin('1 minute', c.created_at, 'epoch'), c.tenant_id, c.key_id, c.group_id,
    CASE WHEN c.error_kind = 'model_not_found' THEN NULL ELSE c.requested_model END, c.channel, c.outcome,
    sign * count(*), sign * sum(c.folded), sign * coalesce(sum(c.input_tokens), 0), sign * coalesce(sum(c.cache_read_tokens), 0),
    sign * coalesce(sum(c.cache_write_tokens), 0), sign * coalesce(sum(c.output_tokens), 0),
    sign * coalesce(sum(c.reasoning_tokens), 0), sign * coalesce(sum(c.images), 0), sign * coalesce(sum(c.cost_nano), 0),
    sign * coalesce(sum(c.folded) FILTER (WHERE c.cost_nano IS NULL), 0),
    sign * coalesce(sum(latency_count(c.total_ms)) FILTER (WHERE c.outcome <> 'orphaned'), 0),
    sign * coalesce(sum(latency_count(c.first_token_ms)) FILTER (WHERE c.outcome <> 'orphaned'), 0),
    sign * coalesce(sum(c.cost_nano - c.charged_nano), 0)
  FROM changed c GROUP BY 1, 2, 3, 4, 5, 6, 7;
  IF TG_OP = 'INSERT' THEN
    -- Tails do not read the partitions of older days. They show 100 rows at a time, so that more than 1,000 are of no use.
    INSERT INTO noted_requests (id, created_at, transaction, written_at)
    SELECT c.id, c.created_at, pg_current_xact_id()::text::bigint, now() FROM changed c
    WHERE c.created_at < date_trunc('day', now(), 'UTC') - interval '1 day'
      OR (SELECT w.until > now() FROM tail_watch w)
    ORDER BY c.id DESC LIMIT 1000;
  END IF;
  RETURN NULL;
END $$;
