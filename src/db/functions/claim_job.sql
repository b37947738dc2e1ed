-- Take a job to run it, and feed the queue. Verdicts: `claimed`: the caller holds the new fence until the lease ends;
-- `held`: another worker has it until `until`; `early`: it must not run before `until`; `ended`; `gone`.
CREATE OR REPLACE FUNCTION claim_job(job uuid, lease_ms integer, queue_window integer,
  OUT verdict text, OUT fence integer, OUT until timestamptz, OUT enqueue text[]) LANGUAGE plpgsql AS $$
DECLARE
  j jobs;
BEGIN
  enqueue := '{}';
  SELECT * INTO j FROM jobs WHERE id = job;
  IF NOT FOUND THEN
    verdict := 'gone';
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(j.tenant_id::text, 7023913));
  SELECT * INTO j FROM jobs WHERE id = job FOR UPDATE;
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
  IF disown_job(job) THEN
    verdict := 'ended';
    RETURN;
  END IF;
  UPDATE jobs i
  SET state = 'running', fence = i.fence + 1, runs = i.runs + 1, leased_until = clock_timestamp() + lease_ms * interval '1 ms', not_before = NULL,
    enqueued_at = coalesce(i.enqueued_at, clock_timestamp()), started_at = coalesce(i.started_at, clock_timestamp())
  WHERE i.id = job RETURNING i.fence INTO fence;
  -- Others wait for the tenant's lock. Before any upstream call the worker notes its attempt, and that commit waits for
  -- the disk: this one need not.
  PERFORM set_config('synchronous_commit', 'off', true);
  verdict := 'claimed';
  until := clock_timestamp() + lease_ms * interval '1 ms';
  enqueue := feed_jobs(j.tenant_id, queue_window);
  PERFORM pg_notify('tollgate_jobs', job::text);
END $$;
