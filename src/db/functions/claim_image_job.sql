-- claim_job for processes of the former release, which only know how to make images. Verdicts as there.
CREATE OR REPLACE FUNCTION claim_image_job(job uuid, lease_ms integer, queue_window integer,
  OUT verdict text, OUT fence integer, OUT until timestamptz, OUT enqueue text[]) LANGUAGE plpgsql AS $$
BEGIN
  IF is_answer_job(job) THEN
    verdict := 'gone';
    enqueue := '{}';
    RETURN;
  END IF;
  SELECT c.verdict, c.fence, c.until, c.enqueue INTO verdict, fence, until, enqueue
  FROM claim_job(job, lease_ms, queue_window) AS c;
END $$;
