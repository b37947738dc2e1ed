-- Trigger: a changed key gets the new revision of all keys, and all processes are notified.
CREATE OR REPLACE FUNCTION raise_key_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE revision SET keys = keys + 1 RETURNING keys INTO NEW.revision;
  PERFORM pg_notify('tollgate_revision', '');
  RETURN NEW;
END $$;
