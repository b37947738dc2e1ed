-- Find processes that were silent for `silent_ms` and that nobody adopts, because their journal is elsewhere or gone with
-- its disk: release their reservations and mark them `lost`. A process that comes back is `live` again with its next heartbeat,
-- and a journal that comes back is adopted and shipped: its charges are booked, and nothing is released again. Answers their
-- ids. Leaves the caller out, whose own heartbeat may be old after its machine slept. Locks accounts first and instances last,
-- as adoption does. Processes with DURABILITY=postgres are ended sooner, with their requests (ledger/end-lost.ts).
CREATE OR REPLACE FUNCTION retire_silent_instances(caller uuid, silent_ms bigint) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  heard_of timestamptz := now() - silent_ms * interval '1 ms';
  lost uuid[] := ARRAY(
    WITH silent AS MATERIALIZED (
      SELECT i.id FROM instances i
      WHERE i.state = 'live' AND i.heartbeat_at < heard_of AND i.id <> caller AND i.open_columns IS NULL
    )
    -- Its adopter has this lock: the charges that it ships settle what the process held.
    SELECT s.id FROM silent s WHERE pg_try_advisory_xact_lock(hashtextextended(s.id::text, 7))
  );
BEGIN
  -- A process that was adopted may have reserved money before it knew. None of these requests can run any longer.
  PERFORM release_reservations(stale) FROM (
    SELECT array_agg(v.request_id) AS stale FROM reservations v JOIN instances i ON i.id = v.instance_id
    WHERE i.state <> 'live' AND v.created_at < heard_of
  ) AS s WHERE stale IS NOT NULL;
  IF lost = '{}' THEN RETURN; END IF;
  PERFORM release_instances(lost);
  PERFORM 1 FROM instances i WHERE i.id = ANY (lost) ORDER BY i.id FOR UPDATE;
  RETURN QUERY UPDATE instances i SET state = 'lost'
  WHERE i.id = ANY (lost) AND i.state = 'live' AND i.heartbeat_at < heard_of RETURNING i.id;
END $$;
