-- Move the shipped position of a journal's segment, in the transaction that writes its rows. Raises TG001 when Postgres has
-- another position. A segment begins only where the last one, if the caller knows it, ended.
CREATE OR REPLACE FUNCTION move_journal_position(instance uuid, at_segment integer, from_position bigint, to_position bigint,
  last_segment integer, last_position bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF from_position > 0 THEN
    UPDATE journal_positions p SET position = to_position
    WHERE p.instance_id = instance AND p.segment = at_segment AND p.position = from_position;
  ELSE
    INSERT INTO journal_positions (instance_id, segment, position) SELECT instance, at_segment, to_position
    WHERE last_segment IS NULL OR EXISTS (
      SELECT FROM journal_positions p
      WHERE p.instance_id = instance AND p.segment = last_segment AND p.position = last_position)
    ON CONFLICT (instance_id, segment) DO NOTHING;
  END IF;
  IF NOT FOUND THEN
    RAISE 'Postgres does not have segment % of journal % up to %', at_segment, instance, from_position USING ERRCODE = 'TG001';
  END IF;
END $$;
