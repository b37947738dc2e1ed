-- Find jobs that the queue may have lost: their worker is gone, or the queue did not run them within `stale_ms`. Answers
-- `ID PRIORITY KIND` of each, as feed_jobs does. The queue ignores an id that it already has.
CREATE OR REPLACE FUNCTION lost_jobs(stale_ms integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT id || ' ' || priority || CASE WHEN is_answer_job(id) THEN ' answer' ELSE ' image' END FROM jobs WHERE state = 'running' AND leased_until < clock_timestamp() LIMIT 1000;
  RETURN QUERY SELECT id || ' ' || priority || CASE WHEN is_answer_job(id) THEN ' answer' ELSE ' image' END FROM jobs
    WHERE state = 'queued' AND enqueued_at < clock_timestamp() - stale_ms * interval '1 ms'
      AND (not_before IS NULL OR not_before < clock_timestamp() - stale_ms * interval '1 ms') LIMIT 1000;
END $$;
