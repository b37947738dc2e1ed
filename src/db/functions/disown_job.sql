-- End a job without a charge when its request has a row already: its client was told that it failed, because the answer
-- of accept_job was lost. The caller has locked the job. False: the request has no row, and nothing changed.
CREATE OR REPLACE FUNCTION disown_job(job uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE jobs i
  SET state = 'cancelled', finished_at = clock_timestamp(), leased_until = NULL, channel_id = NULL, request = NULL, body = NULL,
    webhook_url = NULL, cost_nano = r.cost_nano
  FROM requests r WHERE i.id = job AND r.id = i.id AND r.created_at = i.created_at;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE background_answers SET bytes = 0 WHERE job_id = job;
  PERFORM release_reservations(ARRAY[job]);
  PERFORM pg_notify('tollgate_jobs', job::text);
  RETURN true;
END $$;
