-- accept_image_job for an answer that is made in the background: with the object that its client gets meanwhile, and its first
-- events. Called again with the same id, it changes nothing.
CREATE OR REPLACE FUNCTION accept_answer_job(job jsonb, sealed_request bytea, sealed_webhook bytea, amount bigint, queue_window integer,
  waiting_max integer, sealed_answer bytea, first_events bytea, event_count integer, OUT verdict text, OUT enqueue text[])
LANGUAGE plpgsql AS $$
BEGIN
  SELECT a.verdict, a.enqueue INTO verdict, enqueue
  FROM accept_image_job(job, sealed_request, sealed_webhook, amount, queue_window, waiting_max) AS a;
  UPDATE image_jobs SET answer = sealed_answer, events = event_count WHERE id = (job ->> 'id')::uuid AND answer IS NULL AND state = 'queued';
  IF FOUND THEN
    INSERT INTO answer_events (job_id, first, content) VALUES ((job ->> 'id')::uuid, 0, first_events);
  END IF;
END $$;
