-- Give the queue a tenant's waiting jobs, until it has `queue_window` of this tenant; answers `ID PRIORITY` of each. The
-- queue is first in, first out, and has only so many jobs of each tenant: so all tenants get their turns. Jobs that are
-- locked are left out: another transaction cancels them, and it may wait for an account that our caller has locked.
CREATE OR REPLACE FUNCTION feed_image_jobs(tenant uuid, queue_window integer) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  room integer;
  fed text[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(tenant::text, 7023913));
  SELECT queue_window - count(*) INTO room FROM image_jobs
  WHERE tenant_id = tenant AND state = 'queued' AND enqueued_at IS NOT NULL
    -- Jobs that were put back for a while must not keep the others waiting.
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
END $$;
