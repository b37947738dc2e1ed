-- Trigger: a changed key gets the new revision of all keys, and all processes are notified. All keys of a transaction get one
-- number: to raise it again would read each version of the row that the transaction has left behind. A transaction that
-- gives up a savepoint forgets a number that it got after it. A tenant's first key in a group, or its last one that goes, is a change
-- of the catalog: the snapshot knows which channels one tenant alone can reach.
CREATE OR REPLACE FUNCTION raise_key_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  raised text := current_setting('tollgate.raised_key_revision', true);
BEGIN
  IF TG_OP = 'INSERT' OR (NEW.group_id, NEW.tenant_id, NEW.revoked_at IS NULL) <> (OLD.group_id, OLD.tenant_id, OLD.revoked_at IS NULL)
  THEN
    UPDATE revision SET catalog = catalog + 1 WHERE EXISTS (
      SELECT 1 FROM (VALUES (NEW.group_id, NEW.tenant_id), (OLD.group_id, OLD.tenant_id)) AS pair (group_id, tenant_id)
      WHERE pair.group_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM keys k WHERE k.group_id = pair.group_id AND k.tenant_id = pair.tenant_id
          AND k.revoked_at IS NULL AND k.id <> NEW.id));
  END IF;
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
