-- Trigger: notes the name that a tenant, a key or a group has from now on; NULL: it is deleted. Its argument is the kind.
CREATE OR REPLACE FUNCTION note_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO names (kind, id, name, since)
  SELECT TG_ARGV[0], CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END,
    CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW.name END, now()
  ON CONFLICT (kind, id, since) DO UPDATE SET name = EXCLUDED.name;
  RETURN NULL;
END $$;
