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

-- Trigger: notes a row of the usage log under each of its tags. A row that moves to a partition of its own comes here
-- again.
CREATE FUNCTION note_request_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO request_tags (tenant_id, tag, created_at, request_id)
  SELECT NEW.tenant_id, t.tag, NEW.created_at, NEW.id FROM unnest(NEW.tags) AS t (tag)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER request_tags AFTER INSERT ON "requests" FOR EACH ROW
  WHEN (NEW.tags IS NOT NULL AND NEW.tenant_id IS NOT NULL) EXECUTE FUNCTION note_request_tags();
