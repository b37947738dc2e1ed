-- Trigger: notes a row of the usage log under each of its tags. A row that moves to a partition of its own comes here again.
CREATE OR REPLACE FUNCTION note_request_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_tags (tenant_id, tag, created_at, request_id)
  SELECT NEW.tenant_id, t.tag, NEW.created_at, NEW.id FROM unnest(NEW.tags) AS t (tag)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
