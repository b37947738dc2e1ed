-- Image jobs. Locks are taken in this order, here and everywhere: a tenant's or a channel's advisory lock, the job,
-- the usage log's tables, accounts.

-- Give the queue as many of a tenant's waiting jobs as it takes of one tenant at a time; answers `ID PRIORITY` of each.
-- Since each tenant has only so many in the queue, and the queue is first in, first out, all tenants get their turns.
-- Jobs that are locked are being cancelled: who holds them waits for an account that our caller may hold.
CREATE FUNCTION feed_image_jobs(tenant uuid, queue_window integer) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  room integer;
  fed text[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(tenant::text, 7023913));
  SELECT queue_window - count(*) INTO room FROM image_jobs
  WHERE tenant_id = tenant AND state = 'queued' AND enqueued_at IS NOT NULL
    -- Those that were put back for a while must not keep the others waiting.
    AND (not_before IS NULL OR not_before <= clock_timestamp());
  IF room <= 0 THEN RETURN '{}'; END IF;
  WITH moved AS (
    UPDATE image_jobs SET enqueued_at = clock_timestamp() WHERE id IN (
      SELECT id FROM image_jobs WHERE tenant_id = tenant AND state = 'queued' AND enqueued_at IS NULL
      ORDER BY priority DESC NULLS LAST, id LIMIT room FOR UPDATE SKIP LOCKED
    ) RETURNING id, priority
  )
  SELECT coalesce(array_agg(id || ' ' || priority ORDER BY priority DESC, id), '{}') INTO fed FROM moved;
  RETURN fed;
END $$;--> statement-breakpoint

-- Hold the money (NULL: nothing is limited), keep the job, feed the queue: all or nothing. Asked again with the same
-- id, it changes nothing and answers as the first time. Verdicts: `accepted`; `insufficient`, the account cannot bear it;
-- `full`, as many of the tenant's jobs wait as may.
CREATE FUNCTION accept_image_job(job jsonb, sealed_request bytea, sealed_webhook bytea, amount bigint, queue_window integer,
  waiting_max integer, OUT verdict text, OUT enqueue text[]) LANGUAGE plpgsql AS $$
DECLARE
  j image_jobs := jsonb_populate_record(NULL::image_jobs, job);
BEGIN
  verdict := 'accepted';
  enqueue := '{}';
  -- The tenant's lock first: of one request that is sent twice, the second finds what the first did.
  PERFORM pg_advisory_xact_lock(hashtextextended(j.tenant_id::text, 7023913));
  IF EXISTS (SELECT 1 FROM image_jobs WHERE id = j.id) THEN RETURN; END IF;
  IF waiting_max <= (
    SELECT count(*) FROM (
      SELECT 1 FROM image_jobs WHERE tenant_id = j.tenant_id AND state = 'queued' AND enqueued_at IS NULL LIMIT waiting_max
    ) AS waiting
  ) THEN
    verdict := 'full';
    RETURN;
  END IF;
  IF amount IS NOT NULL THEN
    UPDATE accounts SET reserved_nano = reserved_nano + amount
    WHERE id = j.tenant_id AND balance_nano - reserved_nano >= amount;
    IF NOT FOUND THEN
      verdict := 'insufficient';
      RETURN;
    END IF;
    -- Of no process: the job outlives whichever accepted it.
    INSERT INTO reservations (request_id, account_id, instance_id, amount_nano, created_at)
    VALUES (j.id, j.tenant_id, '00000000-0000-0000-0000-000000000000', amount, now());
  END IF;
  INSERT INTO image_jobs (id, tenant_id, key_id, group_id, state, priority, model, request, quote, opened, body, created_at,
    webhook_url)
  VALUES (j.id, j.tenant_id, j.key_id, j.group_id, 'queued', j.priority, j.model, sealed_request, j.quote, j.opened, j.body,
    uuid_moment(j.id), sealed_webhook);
  enqueue := feed_image_jobs(j.tenant_id, queue_window);
END $$;--> statement-breakpoint

-- A job whose client was told that it failed, because the answer to accept_image_job was lost, has its request's row
-- already: it is nobody's, and ends without a charge. The caller has locked it.
CREATE FUNCTION disown_image_job(job uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE image_jobs i
  SET state = 'cancelled', finished_at = clock_timestamp(), leased_until = NULL, channel_id = NULL, request = NULL, body = NULL,
    webhook_url = NULL, cost_nano = r.cost_nano
  FROM requests r WHERE i.id = job AND r.id = i.id AND r.created_at = i.created_at;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM settle_accounts(ARRAY[job], '{}', '{}');
  PERFORM pg_notify('tollgate_image_jobs', job::text);
  RETURN true;
END $$;--> statement-breakpoint

-- Take a job to run it. Verdicts: `claimed`, then the caller holds its new fence until the lease ends; `held` by
-- another and `early` until `until`; `ended`; `gone`. Whoever claims feeds the queue.
CREATE FUNCTION claim_image_job(job uuid, lease_ms integer, queue_window integer,
  OUT verdict text, OUT fence integer, OUT until timestamptz, OUT enqueue text[]) LANGUAGE plpgsql AS $$
DECLARE
  j image_jobs;
BEGIN
  enqueue := '{}';
  SELECT * INTO j FROM image_jobs WHERE id = job;
  IF NOT FOUND THEN
    verdict := 'gone';
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(j.tenant_id::text, 7023913));
  SELECT * INTO j FROM image_jobs WHERE id = job FOR UPDATE;
  IF j.state NOT IN ('queued', 'running') THEN
    verdict := 'ended';
    RETURN;
  END IF;
  IF j.state = 'running' AND j.leased_until > clock_timestamp() THEN
    verdict := 'held';
    until := j.leased_until;
    RETURN;
  END IF;
  IF j.not_before > clock_timestamp() THEN
    verdict := 'early';
    until := j.not_before;
    RETURN;
  END IF;
  IF disown_image_job(job) THEN
    verdict := 'ended';
    RETURN;
  END IF;
  UPDATE image_jobs i
  SET state = 'running', fence = i.fence + 1, runs = i.runs + 1, leased_until = clock_timestamp() + lease_ms * interval '1 ms', not_before = NULL,
    enqueued_at = coalesce(i.enqueued_at, clock_timestamp()), started_at = coalesce(i.started_at, clock_timestamp())
  WHERE i.id = job RETURNING i.fence INTO fence;
  -- Others wait for the tenant's lock: this need not be on disk before what is noted next, ahead of any upstream call.
  PERFORM set_config('synchronous_commit', 'off', true);
  verdict := 'claimed';
  until := clock_timestamp() + lease_ms * interval '1 ms';
  enqueue := feed_image_jobs(j.tenant_id, queue_window);
  PERFORM pg_notify('tollgate_image_jobs', job::text);
END $$;--> statement-breakpoint

-- Hold a lease for longer: `held`, `cancel` (held, and its client wants it no more) or `lost`.
CREATE FUNCTION extend_image_job(job uuid, held_fence integer, lease_ms integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  wanted_no_more boolean;
BEGIN
  UPDATE image_jobs SET leased_until = clock_timestamp() + lease_ms * interval '1 ms'
  WHERE id = job AND fence = held_fence AND state = 'running' RETURNING cancel_requested INTO wanted_no_more;
  IF NOT FOUND THEN RETURN 'lost'; END IF;
  RETURN CASE WHEN wanted_no_more THEN 'cancel' ELSE 'held' END;
END $$;--> statement-breakpoint

-- Ask for a channel's turn: 0 when the job has it, else after how many milliseconds to ask again; -1: the lease is lost.
CREATE FUNCTION take_image_turn(job uuid, held_fence integer, channel uuid, concurrency integer, per_minute integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  apart interval := interval '1 minute' / per_minute;
  moment timestamptz := clock_timestamp();
  next_moment timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(channel::text, 7023914));
  IF concurrency IS NOT NULL AND concurrency <= (
    SELECT count(*) FROM image_jobs
    WHERE channel_id = channel AND state = 'running' AND leased_until > moment AND id <> job
  ) THEN RETURN 500; END IF;
  IF per_minute IS NOT NULL THEN
    SELECT greatest(next_at, moment) INTO next_moment FROM image_channel_turns WHERE channel_id = channel;
    next_moment := coalesce(next_moment, moment);
    -- A minute's worth may begin at once; the rest comes evenly.
    IF next_moment - moment > interval '1 minute' - apart THEN
      RETURN ceil(extract(epoch FROM next_moment - moment - (interval '1 minute' - apart)) * 1000)::integer;
    END IF;
  END IF;
  UPDATE image_jobs SET channel_id = channel WHERE id = job AND fence = held_fence AND state = 'running';
  IF NOT FOUND THEN RETURN -1; END IF;
  IF per_minute IS NOT NULL THEN
    INSERT INTO image_channel_turns (channel_id, next_at) VALUES (channel, next_moment + apart)
    ON CONFLICT (channel_id) DO UPDATE SET next_at = excluded.next_at;
  END IF;
  RETURN 0;
END $$;--> statement-breakpoint

-- Put a job back to be run again after a while; `waited`: nothing was tried. False: the lease is lost, or its client
-- wants it no more.
CREATE FUNCTION requeue_image_job(job uuid, held_fence integer, delay_ms integer, made_attempts text, waited boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE image_jobs
  SET runs = runs - waited::integer, state = 'queued', not_before = clock_timestamp() + delay_ms * interval '1 ms', leased_until = NULL, channel_id = NULL,
    attempts = made_attempts, partials = '[]', enqueued_at = clock_timestamp()
  WHERE id = job AND fence = held_fence AND state = 'running' AND NOT cancel_requested;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM pg_notify('tollgate_image_jobs', job::text);
  RETURN true;
END $$;--> statement-breakpoint

-- End a job once: its state, the request's row, body and attempts, the charge, and the money that was held for it.
-- False: it was not in the state, or not of the fence, that the caller believed; then nothing is changed.
CREATE FUNCTION finish_image_job(job uuid, held_fence integer, from_state text, to_state text, row_json jsonb, attempts_json jsonb,
  made_attempts text, job_result text, job_error text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  j image_jobs;
  r requests := jsonb_populate_record(NULL::requests, row_json);
  charge bigint := greatest(coalesce(r.cost_nano, 0), 0);
BEGIN
  PERFORM 1 FROM image_jobs WHERE id = job AND fence = held_fence AND state = from_state FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  IF disown_image_job(job) THEN RETURN true; END IF;
  UPDATE image_jobs
  SET state = to_state, finished_at = clock_timestamp(), leased_until = NULL, channel_id = NULL, not_before = NULL,
    attempts = made_attempts, result = job_result, error = job_error, cost_nano = r.cost_nano, request = NULL,
    webhook_state = CASE WHEN webhook_url IS NULL THEN NULL ELSE 'pending' END,
    webhook_at = CASE WHEN webhook_url IS NULL THEN NULL ELSE clock_timestamp() END
  WHERE id = job RETURNING * INTO j;
  INSERT INTO requests SELECT r.*;
  INSERT INTO request_payloads (request_id, created_at, capture, body)
  SELECT job, j.created_at, j.opened::jsonb ->> 'capture', j.body WHERE j.body IS NOT NULL;
  INSERT INTO attempts SELECT * FROM jsonb_populate_recordset(NULL::attempts, attempts_json);
  IF charge > 0 THEN
    INSERT INTO entries (id, account_id, created_at, kind, amount_nano) VALUES (job, j.tenant_id, j.created_at, 'charge', -charge);
  END IF;
  UPDATE image_jobs SET body = NULL WHERE id = job AND body IS NOT NULL;
  -- Last, because it locks accounts that admissions wait for.
  PERFORM settle_accounts(ARRAY[job], CASE WHEN charge > 0 THEN ARRAY[j.tenant_id] ELSE '{}'::uuid[] END,
    CASE WHEN charge > 0 THEN ARRAY[charge] ELSE '{}'::bigint[] END);
  PERFORM pg_notify('tollgate_image_jobs', job::text);
  RETURN true;
END $$;--> statement-breakpoint

-- What the queue may have lost: jobs whose runner is gone, jobs it was given and never ran, and those that nobody fed
-- to it. Answers what feed_image_jobs does, to give to the queue, which takes an id that it has as if nothing were said.
CREATE FUNCTION sweep_image_jobs(stale_ms integer, queue_window integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  tenant uuid;
BEGIN
  RETURN QUERY SELECT id || ' ' || priority FROM image_jobs WHERE state = 'running' AND leased_until < clock_timestamp() LIMIT 1000;
  RETURN QUERY SELECT id || ' ' || priority FROM image_jobs
    WHERE state = 'queued' AND enqueued_at < clock_timestamp() - stale_ms * interval '1 ms'
      AND (not_before IS NULL OR not_before < clock_timestamp() - stale_ms * interval '1 ms') LIMIT 1000;
  FOR tenant IN
    SELECT DISTINCT tenant_id FROM image_jobs WHERE state = 'queued' AND enqueued_at IS NULL ORDER BY tenant_id
  LOOP
    RETURN QUERY SELECT unnest(feed_image_jobs(tenant, queue_window));
  END LOOP;
END $$;
