-- Release reservations whose request has its row already: they were committed after the request had given up waiting. All
-- processes call it every 5 s; one works at a time, at most every 4 s.
CREATE OR REPLACE FUNCTION sweep_reservations() RETURNS void LANGUAGE plpgsql
-- Everything is found by an index: the old reservations by the time in their ids, each row of the usage log by its id.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  moment timestamptz := now() - interval '10 seconds';
  -- The lowest uuidv7 of that moment.
  bound uuid := lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20);
  ended uuid[];
BEGIN
  IF NOT claim_sweep('reservations', 4000) THEN RETURN; END IF;
  ended := ARRAY(
    SELECT v.request_id FROM reservations v
    JOIN requests r ON r.id = v.request_id AND r.created_at = uuid_moment(v.request_id)
    WHERE v.request_id < bound AND v.created_at < moment
  );
  IF ended <> '{}' THEN PERFORM release_reservations(ended); END IF;
END $$;
