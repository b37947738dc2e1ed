-- Trigger: a changed key gets the new revision of all keys, and all processes are notified. All keys of a transaction get one
-- number: to raise it again would read each version of the row that the transaction has left behind. A transaction that
-- gives up a savepoint forgets a number that it got after it.
CREATE OR REPLACE FUNCTION raise_key_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  raised text := current_setting('tollgate.raised_key_revision', true);
BEGIN
  -- Empty in a session of which an earlier transaction has raised it.
  IF coalesce(raised, '') <> '' THEN
    NEW.revision := raised::bigint;
    RETURN NEW;
  END IF;
  UPDATE revision SET keys = keys + 1 RETURNING keys INTO NEW.revision;
  PERFORM set_config('tollgate.raised_key_revision', NEW.revision::text, true);
  PERFORM pg_notify('tollgate_revision', '');
  RETURN NEW;
END $$;
