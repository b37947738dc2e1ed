-- accept_job for an answer that is made in the background: with the object that its client gets meanwhile, and its first
-- events. Called again with the same id, it changes nothing.
CREATE OR REPLACE FUNCTION accept_answer_job(job jsonb, sealed_request bytea, sealed_webhook bytea, amount bigint, queue_window integer,
  waiting_max integer, sealed_answer bytea, first_events bytea, event_count integer, OUT verdict text, OUT enqueue text[])
LANGUAGE plpgsql AS $$
DECLARE
  own_id CONSTANT uuid := (job ->> 'id')::uuid;
BEGIN
  -- First: it makes the job one of its kind.
  INSERT INTO background_answers (job_id, answer, events, tenant_id, bytes)
  VALUES (own_id, sealed_answer, event_count, (job ->> 'tenant_id')::uuid, octet_length(sealed_request)) ON CONFLICT DO NOTHING;
  IF FOUND THEN
    INSERT INTO answer_events (job_id, first, content) VALUES (own_id, 0, first_events);
  END IF;
  SELECT a.verdict, a.enqueue INTO verdict, enqueue
  FROM accept_job(job, sealed_request, sealed_webhook, amount, queue_window, waiting_max) AS a;
  IF verdict <> 'accepted' THEN
    DELETE FROM background_answers WHERE job_id = own_id;
  END IF;
END $$;
