-- Keep events of a running answer behind those that it has. `first`: the sequence number of the first of them. Called again with the
-- same events, it changes nothing and answers true. False: the lease is lost, or other events have this number.
CREATE OR REPLACE FUNCTION keep_answer_events(job uuid, held_fence integer, first_event integer, event_count integer, sealed_events bytea)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM jobs WHERE id = job AND fence = held_fence AND state = 'running' FOR SHARE;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE background_answers SET events = events + event_count WHERE job_id = job AND events = first_event;
  IF NOT FOUND THEN
    -- The holder of a fence keeps its events in order: if there are so many, these are kept.
    RETURN EXISTS (SELECT 1 FROM background_answers WHERE job_id = job AND events = first_event + event_count);
  END IF;
  INSERT INTO answer_events (job_id, first, content) VALUES (job, first_event, sealed_events);
  PERFORM pg_notify('tollgate_jobs', job::text);
  RETURN true;
END $$;
