-- Find processes that were silent for a day and that nobody could adopt, because their journal is gone with its disk:
-- release their reservations and mark them `lost`. A journal that comes back is adopted and shipped as ever. Answers
-- their ids. Leaves the caller out, whose own heartbeat may be old after its machine slept. Locks accounts first and
-- instances last, as adoption does.
CREATE OR REPLACE FUNCTION retire_lost_instances(caller uuid) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  lost uuid[] := ARRAY(
    SELECT i.id FROM instances i
    WHERE i.state = 'live' AND i.heartbeat_at < now() - interval '24 hours' AND i.id <> caller
  );
BEGIN
  IF lost = '{}' THEN RETURN; END IF;
  PERFORM release_instances(lost);
  PERFORM 1 FROM instances i WHERE i.id = ANY (lost) ORDER BY i.id FOR UPDATE;
  RETURN QUERY UPDATE instances i SET state = 'lost' WHERE i.id = ANY (lost) AND i.state = 'live' RETURNING i.id;
END $$;
