CREATE TABLE "verdicts" (
	"channel_id" uuid NOT NULL,
	"upstream_model" text NOT NULL,
	"protocol" text NOT NULL,
	"subject" text NOT NULL,
	"origin" text NOT NULL,
	"verdict" text NOT NULL,
	"traits" jsonb,
	"evidence" text NOT NULL,
	"request_ids" uuid[] DEFAULT '{}' NOT NULL,
	"cost_nano" bigint,
	"decided_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	CONSTRAINT "verdicts_channel_id_upstream_model_protocol_subject_origin_pk" PRIMARY KEY("channel_id","upstream_model","protocol","subject","origin")
);
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "vendor" text;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "traits" jsonb;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "connection" jsonb;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "connection_key_id" text;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "connection_sealed" "bytea";--> statement-breakpoint
ALTER TABLE "models" ADD COLUMN "traits" jsonb;--> statement-breakpoint
ALTER TABLE "offers" ADD COLUMN "traits" jsonb;--> statement-breakpoint
ALTER TABLE "prices" ADD COLUMN "cache_write_1h_nano" bigint;--> statement-breakpoint
ALTER TABLE "prices" ADD COLUMN "audio_input_nano" bigint;--> statement-breakpoint
ALTER TABLE "prices" ADD COLUMN "audio_output_nano" bigint;--> statement-breakpoint
ALTER TABLE "prices" ADD COLUMN "web_search_nano" bigint;--> statement-breakpoint
ALTER TABLE "prices" ADD COLUMN "tiers" jsonb;--> statement-breakpoint
ALTER TABLE "prices" ADD COLUMN "source" text;--> statement-breakpoint
ALTER TABLE "verdicts" ADD CONSTRAINT "verdicts_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "verdicts" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();
