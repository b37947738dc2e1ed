CREATE TABLE "library_prices" (
	"provider" text NOT NULL,
	"ordinal" integer NOT NULL,
	"model" text NOT NULL,
	"match" jsonb NOT NULL,
	"price_id" uuid,
	CONSTRAINT "library_prices_provider_ordinal_pk" PRIMARY KEY("provider","ordinal")
);
--> statement-breakpoint
CREATE TABLE "price_library" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"version" text NOT NULL,
	"renew_url" text,
	"renewed_at" timestamp (3) with time zone,
	"tried_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "prices" ALTER COLUMN "model_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "library_providers" text[];--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "cost_facts" text;--> statement-breakpoint
ALTER TABLE "library_prices" ADD CONSTRAINT "library_prices_price_id_prices_id_fk" FOREIGN KEY ("price_id") REFERENCES "public"."prices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "library_prices" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();
