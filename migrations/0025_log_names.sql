CREATE TABLE "names" (
	"kind" text NOT NULL,
	"id" uuid NOT NULL,
	"name" text,
	"since" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "names_kind_id_since_pk" PRIMARY KEY("kind","id","since")
);
--> statement-breakpoint
CREATE INDEX "names_name" ON "names" USING btree ("kind","name");--> statement-breakpoint
-- by hand
-- Trigger: notes the name that a tenant, a key or a group has from now on; NULL: it is deleted. Its argument is the kind.
CREATE FUNCTION note_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO names (kind, id, name, since)
  SELECT TG_ARGV[0], CASE TG_OP WHEN 'DELETE' THEN OLD.id ELSE NEW.id END,
    CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW.name END, now()
  ON CONFLICT (kind, id, since) DO UPDATE SET name = EXCLUDED.name;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER tenant_inserted AFTER INSERT OR DELETE ON "tenants" FOR EACH ROW EXECUTE FUNCTION note_name('tenant');--> statement-breakpoint
CREATE TRIGGER tenant_renamed AFTER UPDATE ON "tenants" FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION note_name('tenant');--> statement-breakpoint
CREATE TRIGGER key_inserted AFTER INSERT OR DELETE ON "keys" FOR EACH ROW EXECUTE FUNCTION note_name('key');--> statement-breakpoint
CREATE TRIGGER key_renamed AFTER UPDATE ON "keys" FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION note_name('key');--> statement-breakpoint
CREATE TRIGGER group_inserted AFTER INSERT OR DELETE ON "key_groups" FOR EACH ROW EXECUTE FUNCTION note_name('group');--> statement-breakpoint
CREATE TRIGGER group_renamed AFTER UPDATE ON "key_groups" FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION note_name('group');--> statement-breakpoint
INSERT INTO names (kind, id, name, since)
SELECT 'tenant', id, name, 'epoch'::timestamptz FROM tenants
UNION ALL SELECT 'key', id, name, 'epoch'::timestamptz FROM keys
UNION ALL SELECT 'group', id, name, 'epoch'::timestamptz FROM key_groups;
