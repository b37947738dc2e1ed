-- Put a job back, to run again after `delay_ms`. `waited`: nothing was tried, and the run does not count. False: the
-- lease is lost, or the client has cancelled the job. The previews stay: the client saw them, and may have to pay for them.
CREATE OR REPLACE FUNCTION requeue_job(job uuid, held_fence integer, delay_ms integer, made_attempts text, waited boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE jobs
  SET runs = runs - waited::integer, state = 'queued',
    -- The column has milliseconds: rounded up, a job without a delay would be early for a part of one.
    not_before = date_trunc('milliseconds', clock_timestamp()) + delay_ms * interval '1 ms', leased_until = NULL, channel_id = NULL,
    attempts = made_attempts, enqueued_at = clock_timestamp()
  WHERE id = job AND fence = held_fence AND state = 'running' AND NOT cancel_requested;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM pg_notify('tollgate_jobs', job::text);
  RETURN true;
END $$;
