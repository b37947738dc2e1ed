-- The tenants that have jobs of a kind outside of its queue and room for them in it, as far as this sees without a lock. Call
-- feed_jobs for each in a transaction of its own: it holds the tenant's lock.
CREATE OR REPLACE FUNCTION unfed_tenants(queue_window integer) RETURNS SETOF uuid LANGUAGE sql AS $$
  SELECT DISTINCT t.tenant_id
  FROM (SELECT DISTINCT tenant_id, is_answer_job(id) AS is_answer FROM jobs WHERE state = 'queued' AND enqueued_at IS NULL) AS t
  WHERE queue_window > (
    SELECT count(*) FROM jobs j
    WHERE j.tenant_id = t.tenant_id AND is_answer_job(j.id) = t.is_answer AND j.state = 'queued' AND j.enqueued_at IS NOT NULL
      AND (j.not_before IS NULL OR j.not_before <= clock_timestamp())
  )
$$;
