-- Give the queues a tenant's waiting jobs, until each has `queue_window` of this tenant; answers `ID PRIORITY KIND` of each. A
-- queue is first in, first out, and has only so many jobs of each tenant: so all tenants get their turns. Jobs that are
-- locked are left out: another transaction cancels them, and it may wait for an account that our caller has locked.
CREATE OR REPLACE FUNCTION feed_jobs(tenant uuid, queue_window integer) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  is_answer boolean;
  room integer;
  moved_jobs text[];
  fed text[] := '{}';
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(tenant::text, 7023913));
  FOREACH is_answer IN ARRAY ARRAY[false, true] LOOP
    SELECT queue_window - count(*) INTO room FROM jobs
    WHERE tenant_id = tenant AND state = 'queued' AND enqueued_at IS NOT NULL AND is_answer_job(id) = is_answer
      -- Jobs that were put back for a while must not keep the others waiting.
      AND (not_before IS NULL OR not_before <= clock_timestamp());
    IF room <= 0 THEN CONTINUE; END IF;
    WITH moved AS (
      UPDATE jobs SET enqueued_at = clock_timestamp() WHERE id IN (
        SELECT id FROM jobs WHERE tenant_id = tenant AND state = 'queued' AND enqueued_at IS NULL AND is_answer_job(id) = is_answer
        ORDER BY priority DESC NULLS LAST, id LIMIT room FOR UPDATE SKIP LOCKED
      ) RETURNING id, priority
    )
    SELECT coalesce(array_agg(id || ' ' || priority || CASE WHEN is_answer THEN ' answer' ELSE ' image' END ORDER BY priority DESC, id), '{}') INTO moved_jobs FROM moved;
    fed := fed || moved_jobs;
  END LOOP;
  RETURN fed;
END $$;
