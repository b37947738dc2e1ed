-- End a job once: its state, the row, the body and the attempts of its request, the charge, and the money held for it.
-- False: the job has another state or fence than the caller believes, and nothing changed.
CREATE OR REPLACE FUNCTION finish_job(job uuid, held_fence integer, from_state text, to_state text, row_json jsonb, attempts_json jsonb,
  made_attempts text, job_result text, job_error text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  j jobs;
  r requests := jsonb_populate_record(NULL::requests, row_json);
  charge bigint := greatest(coalesce(r.charged_nano, r.cost_nano, 0), 0);
BEGIN
  PERFORM 1 FROM jobs WHERE id = job AND fence = held_fence AND state = from_state FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  IF disown_job(job) THEN RETURN true; END IF;
  UPDATE jobs
  SET state = to_state, finished_at = clock_timestamp(), leased_until = NULL, channel_id = NULL, not_before = NULL,
    attempts = made_attempts, result = job_result, error = job_error, cost_nano = r.cost_nano, request = NULL,
    webhook_state = CASE WHEN webhook_url IS NULL THEN NULL ELSE 'pending' END,
    webhook_at = CASE WHEN webhook_url IS NULL THEN NULL ELSE clock_timestamp() END
  WHERE id = job RETURNING * INTO j;
  INSERT INTO requests SELECT r.*;
  INSERT INTO request_payloads (request_id, created_at, capture, body)
  SELECT job, j.created_at, j.opened::jsonb ->> 'capture', j.body WHERE j.body IS NOT NULL;
  -- A job of an older version has attempts without `passed_over`: none of its candidates was.
  INSERT INTO attempts
  SELECT * FROM jsonb_populate_recordset(jsonb_populate_record(NULL::attempts, '{"passed_over": false}'), attempts_json);
  IF charge > 0 THEN
    INSERT INTO entries (id, account_id, created_at, kind, amount_nano) VALUES (job, j.tenant_id, j.created_at, 'charge', -charge);
  END IF;
  UPDATE jobs SET body = NULL WHERE id = job AND body IS NOT NULL;
  -- Last, because it locks accounts, and admissions wait for those.
  IF charge > 0 THEN
    PERFORM settle_money(ARRAY[job], ARRAY[j.tenant_id], ARRAY[j.key_id], ARRAY[j.group_id], ARRAY[j.created_at], ARRAY[charge]);
  ELSE
    PERFORM release_reservations(ARRAY[job]);
  END IF;
  PERFORM pg_notify('tollgate_jobs', job::text);
  RETURN true;
END $$;
