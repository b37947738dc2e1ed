CREATE TABLE "storage_quota" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"bytes_max" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenant_storage" (
	"tenant_id" uuid PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "tenant_id" uuid;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "background_answers" ADD COLUMN "tenant_id" uuid;--> statement-breakpoint
ALTER TABLE "background_answers" ADD COLUMN "bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE FUNCTION book_storage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  delta bigint;
  has bigint;
  most bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    -- In the order of the tenants, so that two sweeps do not wait for each other.
    PERFORM FROM tenant_storage s WHERE s.tenant_id IN (SELECT g.tenant_id FROM gone g) ORDER BY s.tenant_id FOR UPDATE;
    UPDATE tenant_storage s SET bytes = s.bytes - o.bytes
    FROM (SELECT g.tenant_id, sum(g.bytes) AS bytes FROM gone g GROUP BY 1) AS o WHERE s.tenant_id = o.tenant_id;
    RETURN NULL;
  END IF;
  delta := NEW.bytes;
  IF TG_OP = 'UPDATE' THEN delta := delta - OLD.bytes; END IF;
  IF delta = 0 OR NEW.tenant_id IS NULL THEN RETURN NULL; END IF;
  INSERT INTO tenant_storage AS s (tenant_id, bytes) VALUES (NEW.tenant_id, delta)
  ON CONFLICT (tenant_id) DO UPDATE SET bytes = s.bytes + delta RETURNING s.bytes INTO has;
  SELECT q.bytes_max INTO most FROM storage_quota q;
  IF delta > 0 AND has > most THEN
    RAISE EXCEPTION 'the tenant % would keep % bytes', NEW.tenant_id, has USING ERRCODE = 'TG429', DETAIL = most::text, TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "kept_answers_stored" AFTER INSERT OR UPDATE OF "bytes" ON "kept_answers" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "kept_answers_removed" AFTER DELETE ON "kept_answers" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "conversations_stored" AFTER INSERT OR UPDATE OF "bytes" ON "conversations" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "conversations_removed" AFTER DELETE ON "conversations" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "files_stored" AFTER INSERT OR UPDATE OF "bytes" ON "files" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "files_removed" AFTER DELETE ON "files" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "idempotency_keys_stored" AFTER INSERT OR UPDATE OF "bytes" ON "idempotency_keys" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "idempotency_keys_removed" AFTER DELETE ON "idempotency_keys" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "background_answers_stored" AFTER INSERT OR UPDATE OF "bytes" ON "background_answers" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "background_answers_removed" AFTER DELETE ON "background_answers" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
UPDATE "conversations" SET "bytes" = "bytes" + octet_length("metadata");--> statement-breakpoint
DELETE FROM "tenant_storage";--> statement-breakpoint
INSERT INTO "tenant_storage" ("tenant_id", "bytes")
SELECT a.tenant_id, sum(a.bytes) FROM (
	SELECT tenant_id, bytes FROM "kept_answers" UNION ALL SELECT tenant_id, bytes FROM "conversations" UNION ALL SELECT tenant_id, bytes FROM "files"
) AS a GROUP BY 1;
