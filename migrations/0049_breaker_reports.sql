CREATE TABLE "breaker_reports" (
	"channel_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"openings" integer NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"open_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "breaker_reports_channel_id_instance_id_pk" PRIMARY KEY("channel_id","instance_id")
);
--> statement-breakpoint
DROP TABLE "channel_breakers" CASCADE;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "breaker_resets" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "breaker_reports" ADD CONSTRAINT "breaker_reports_instance_id_instances_id_fk" FOREIGN KEY ("instance_id") REFERENCES "public"."instances"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
DROP FUNCTION claim_breaker_probe(uuid, integer);--> statement-breakpoint
DROP FUNCTION close_breaker(uuid);--> statement-breakpoint
DROP FUNCTION hold_breaker_probe(uuid, integer);--> statement-breakpoint
DROP FUNCTION open_breaker(uuid, integer, integer, text);
