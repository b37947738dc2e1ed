-- Extend a lease. `held`; `cancel`: held, and the client has cancelled the job; `lost`.
CREATE OR REPLACE FUNCTION extend_job(job uuid, held_fence integer, lease_ms integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  wanted_no_more boolean;
BEGIN
  UPDATE jobs SET leased_until = clock_timestamp() + lease_ms * interval '1 ms'
  WHERE id = job AND fence = held_fence AND state = 'running' RETURNING cancel_requested INTO wanted_no_more;
  IF NOT FOUND THEN RETURN 'lost'; END IF;
  RETURN CASE WHEN wanted_no_more THEN 'cancel' ELSE 'held' END;
END $$;
