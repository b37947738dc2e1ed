-- Trigger: a change of the catalog raises its revision, in the transaction of the change, and notifies all processes.
-- The lock on the row of `revision` puts changes into the order of their commits.
CREATE OR REPLACE FUNCTION raise_catalog_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE revision SET catalog = catalog + 1;
  PERFORM pg_notify('tollgate_revision', '');
  RETURN NULL;
END $$;
