-- Find jobs that the queue may have lost: their worker is gone, the queue never ran them, or nobody gave them to it. It holds
-- the locks of all waiting tenants until its end. Processes of the former release call it; others call lost_image_jobs, and
-- feed_image_jobs for each of unfed_image_tenants.
-- Answers `ID PRIORITY` of each, as feed_image_jobs does. The queue ignores an id that it already has.
CREATE OR REPLACE FUNCTION sweep_image_jobs(stale_ms integer, queue_window integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
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
