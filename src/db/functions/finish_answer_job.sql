-- End an answer that was made in the background: its last events, the object that its client gets, the turn that is kept for later
-- requests, and all that finish_job does. All or nothing. `kept`: a row of kept_answers without its content and times; NULL: the
-- turn is not kept. False: the job has another state or fence than the caller believes, and nothing changed.
CREATE OR REPLACE FUNCTION finish_answer_job(job uuid, held_fence integer, from_state text, to_state text, row_json jsonb,
  attempts_json jsonb, made_attempts text, job_error text, sealed_answer bytea, first_event integer, event_count integer,
  sealed_events bytea, kept jsonb, kept_content bytea, kept_days integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  k kept_answers := jsonb_populate_record(NULL::kept_answers, kept);
BEGIN
  PERFORM 1 FROM jobs WHERE id = job AND fence = held_fence AND state = from_state FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  -- Its request goes before the turn comes: both are booked for the tenant.
  UPDATE background_answers SET answer = sealed_answer, events = events + event_count, bytes = 0
  WHERE job_id = job AND events = first_event;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO answer_events (job_id, first, content) VALUES (job, first_event, sealed_events);
  IF kept IS NOT NULL THEN
    INSERT INTO kept_answers (tenant_id, id, key_id, protocol, previous_id, model, end_user_hash, bytes, content, created_at, expires_at)
    VALUES (k.tenant_id, k.id, k.key_id, k.protocol, k.previous_id, k.model, k.end_user_hash, k.bytes, kept_content, now(),
      now() + make_interval(days => least(kept_days, (SELECT least(rows_days, bodies_days, answers_days) FROM tenants WHERE id = k.tenant_id))))
    ON CONFLICT DO NOTHING;
  END IF;
  -- Last: it locks accounts.
  RETURN finish_job(job, held_fence, from_state, to_state, row_json, attempts_json, made_attempts, NULL, job_error);
END $$;
