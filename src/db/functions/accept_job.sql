-- Keep a job and feed the queue: all or nothing. `amount` is NULL where nothing is limited; else the caller had
-- reserve_money hold it, and from now on the job holds it. Called again with the same id, it changes nothing and answers
-- as the first time. Verdicts: `accepted`; `insufficient`: the money is held no more and cannot be held again; `full`:
-- `waiting_max` jobs of the tenant and the kind wait already.
CREATE OR REPLACE FUNCTION accept_job(job jsonb, sealed_request bytea, sealed_webhook bytea, amount bigint, queue_window integer,
  waiting_max integer, OUT verdict text, OUT enqueue text[]) LANGUAGE plpgsql AS $$
DECLARE
  j jobs := jsonb_populate_record(NULL::jobs, job);
  is_answer CONSTANT boolean := is_answer_job(j.id);
  nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  -- More than other calls can add while this one waits for the lock: each has a connection to Postgres.
  margin CONSTANT integer := 1000;
  waiting integer;
BEGIN
  -- There may be many. The tenant's other jobs need the lock, so they are counted before it, and again under it where that
  -- could decide.
  SELECT count(*) INTO waiting FROM (
    SELECT 1 FROM jobs WHERE tenant_id = j.tenant_id AND is_answer_job(id) = is_answer AND state = 'queued' AND enqueued_at IS NULL LIMIT waiting_max
  ) AS w;
  verdict := 'accepted';
  enqueue := '{}';
  -- The tenant's lock first: when a request is sent twice, the second finds what the first did.
  PERFORM pg_advisory_xact_lock(hashtextextended(j.tenant_id::text, 7023913));
  IF EXISTS (SELECT 1 FROM jobs WHERE id = j.id) THEN RETURN; END IF;
  IF waiting_max - waiting <= margin AND waiting_max <= (
    SELECT count(*) FROM (
      SELECT 1 FROM jobs WHERE tenant_id = j.tenant_id AND is_answer_job(id) = is_answer AND state = 'queued' AND enqueued_at IS NULL LIMIT waiting_max
    ) AS w
  ) THEN
    verdict := 'full';
    RETURN;
  END IF;
  IF amount IS NOT NULL THEN
    -- No process holds it: the job outlives the process that accepted it.
    UPDATE reservations SET instance_id = nobody WHERE request_id = j.id AND amount_nano >= amount;
    IF NOT FOUND AND (
      SELECT r.verdict <> 'granted'
      FROM reserve_money(nobody, ARRAY[j.id], ARRAY[j.tenant_id], ARRAY[j.key_id], ARRAY[j.group_id], ARRAY[amount]) AS r
    ) THEN
      verdict := 'insufficient';
      RETURN;
    END IF;
  END IF;
  INSERT INTO jobs (id, tenant_id, key_id, group_id, state, priority, model, request, quote, opened, body, created_at,
    webhook_url)
  VALUES (j.id, j.tenant_id, j.key_id, j.group_id, 'queued', j.priority, j.model, sealed_request, j.quote, j.opened, j.body,
    uuid_moment(j.id), sealed_webhook);
  enqueue := feed_jobs(j.tenant_id, queue_window);
END $$;
