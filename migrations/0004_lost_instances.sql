-- Processes that nobody has heard of for a day and nobody could adopt, because their journal is gone with its disk:
-- release what they held and mark them. Should the journal come back, it is adopted and shipped as ever. Answers who
-- they were. The caller is left out, since its own heartbeat may be old after a long sleep of its machine.
CREATE FUNCTION retire_lost_instances(caller uuid) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  lost uuid;
BEGIN
  FOR lost IN
    SELECT id FROM instances
    WHERE state = 'live' AND heartbeat_at < now() - interval '24 hours' AND id <> caller
    ORDER BY id
  LOOP
    -- Accounts first and the instance last, as adoption does.
    PERFORM release_instance(lost);
    UPDATE instances SET state = 'lost' WHERE id = lost AND state = 'live';
    IF FOUND THEN RETURN NEXT lost; END IF;
  END LOOP;
END $$;
