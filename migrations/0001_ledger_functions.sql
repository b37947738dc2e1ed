-- Bodies are long and read rarely: no compression, so that shipping them costs Postgres little CPU.
ALTER TABLE "request_payloads" ALTER COLUMN "body" SET STORAGE EXTERNAL;--> statement-breakpoint
CREATE TABLE "requests_default" PARTITION OF "requests" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_payloads_default" PARTITION OF "request_payloads" DEFAULT;--> statement-breakpoint
CREATE TABLE "attempts_default" PARTITION OF "attempts" DEFAULT;--> statement-breakpoint

-- Make the daily partitions of today (UTC), of the given number of days after it, and of every day that has rows in
-- the DEFAULT partition, where they went while their day had none; Postgres refuses to make a partition whose rows are
-- in DEFAULT, so they are moved. Idempotent; takes no lock when nothing is missing.
CREATE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  day date;
  child text;
  first_moment timestamptz;
  next_moment timestamptz;
  made integer := 0;
BEGIN
  FOREACH parent IN ARRAY ARRAY['requests', 'request_payloads', 'attempts'] LOOP
    FOR day IN EXECUTE format(
      'SELECT (now() AT TIME ZONE ''UTC'')::date + ahead FROM generate_series(0, $1) AS ahead
       UNION SELECT DISTINCT (created_at AT TIME ZONE ''UTC'')::date FROM %I ORDER BY 1', parent || '_default')
      USING days_ahead
    LOOP
      child := parent || to_char(day, '_YYYYMMDD');
      CONTINUE WHEN to_regclass(quote_ident(child)) IS NOT NULL;
      -- The parent first, as writers do: nobody can then be half-way between it and DEFAULT.
      EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
      CONTINUE WHEN to_regclass(quote_ident(child)) IS NOT NULL;
      first_moment := day::timestamp AT TIME ZONE 'UTC';
      next_moment := (day + 1)::timestamp AT TIME ZONE 'UTC';
      EXECUTE format('CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT * FROM %I WHERE created_at >= $1 AND created_at < $2',
        parent || '_default') USING first_moment, next_moment;
      EXECUTE format('DELETE FROM %I WHERE created_at >= $1 AND created_at < $2', parent || '_default')
        USING first_moment, next_moment;
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', child, parent, first_moment, next_moment);
      EXECUTE format('INSERT INTO %I SELECT * FROM moved', child);
      DROP TABLE moved;
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;--> statement-breakpoint

-- Retention: drop the daily partitions of one table that hold only rows older than the given number of days.
CREATE FUNCTION drop_partitions(parent text, keep_days integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  child text;
  dropped integer := 0;
BEGIN
  FOR child IN
    SELECT c.relname FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass(quote_ident(parent)) AND c.relname ~ '_[0-9]{8}$'
      AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - keep_days
    ORDER BY 1
  LOOP
    EXECUTE format('DROP TABLE %I', child);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;--> statement-breakpoint

-- One pass over the usage log's partitions, by one process at a time: both counts are 0 while another is at it.
CREATE FUNCTION roll_partitions(days_ahead integer, keep_requests integer, keep_payloads integer, OUT made integer, OUT dropped integer)
LANGUAGE plpgsql SET lock_timeout = '3s' AS $$
BEGIN
  made := 0;
  dropped := 0;
  IF NOT pg_try_advisory_xact_lock(7023912) THEN RETURN; END IF;
  made := ensure_partitions(days_ahead);
  dropped := drop_partitions('requests', keep_requests) + drop_partitions('attempts', keep_requests)
    + drop_partitions('request_payloads', keep_payloads);
END $$;--> statement-breakpoint

-- Revisions: every process compares these two numbers with what it has in memory. The row lock puts changes in
-- commit order, so "everything after revision N" misses nothing.
INSERT INTO "revision" ("id") VALUES (1);--> statement-breakpoint
CREATE FUNCTION raise_catalog_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE revision SET catalog = catalog + 1;
  PERFORM pg_notify('tollgate_revision', '');
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION raise_key_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE revision SET keys = keys + 1 RETURNING keys INTO NEW.revision;
  PERFORM pg_notify('tollgate_revision', '');
  RETURN NEW;
END $$;--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "models" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "prices" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "channels" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "channel_credentials" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "offers" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "key_groups" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "tenants" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER UPDATE OF "limited" ON "accounts" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER key_revision BEFORE INSERT OR UPDATE ON "keys" FOR EACH ROW EXECUTE FUNCTION raise_key_revision();
