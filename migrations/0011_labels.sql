CREATE TABLE "request_tags" (
	"tenant_id" uuid NOT NULL,
	"tag" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"request_id" uuid NOT NULL,
	CONSTRAINT "request_tags_tenant_id_tag_created_at_request_id_pk" PRIMARY KEY("tenant_id","tag","created_at","request_id")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "end_user" text;--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "session" text;--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "tags" text[];--> statement-breakpoint
CREATE INDEX "requests_end_user" ON "requests" USING btree ("tenant_id","end_user","created_at") WHERE "requests"."end_user" is not null;--> statement-breakpoint
CREATE INDEX "requests_session" ON "requests" USING btree ("tenant_id","session","created_at") WHERE "requests"."session" is not null;--> statement-breakpoint
CREATE TABLE "request_tags_default" PARTITION OF "request_tags" DEFAULT;--> statement-breakpoint

-- Trigger: a row of the usage log that has tags is noted under each of them. A row that moves to a partition of its own
-- comes here again.
CREATE FUNCTION note_request_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_tags (tenant_id, tag, created_at, request_id)
  SELECT NEW.tenant_id, t.tag, NEW.created_at, NEW.id FROM unnest(NEW.tags) AS t (tag)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER request_tags AFTER INSERT ON "requests" FOR EACH ROW
  WHEN (NEW.tags IS NOT NULL AND NEW.tenant_id IS NOT NULL) EXECUTE FUNCTION note_request_tags();--> statement-breakpoint

-- As before, and of request_tags: behind requests, as writers lock them.
CREATE OR REPLACE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  day date;
  child text;
  first_moment timestamptz;
  next_moment timestamptz;
  made integer := 0;
BEGIN
  FOREACH parent IN ARRAY ARRAY['requests', 'request_tags', 'request_payloads', 'attempts'] LOOP
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
CREATE OR REPLACE FUNCTION roll_partitions(days_ahead integer, keep_requests integer, keep_payloads integer, OUT made integer, OUT dropped integer)
LANGUAGE plpgsql SET lock_timeout = '3s' AS $$
BEGIN
  made := 0;
  dropped := 0;
  IF NOT pg_try_advisory_xact_lock(7023912) THEN RETURN; END IF;
  made := ensure_partitions(days_ahead);
  dropped := drop_partitions('requests', keep_requests) + drop_partitions('request_tags', keep_requests)
    + drop_partitions('attempts', keep_requests) + drop_partitions('request_payloads', keep_payloads);
END $$;
