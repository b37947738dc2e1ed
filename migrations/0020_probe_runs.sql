CREATE TABLE "probe_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"model" text NOT NULL,
	"upstream_model" text NOT NULL,
	"protocol" text NOT NULL,
	"origin" text NOT NULL,
	"state" text NOT NULL,
	"cost_max_nano" bigint NOT NULL,
	"key_id" uuid,
	"report" jsonb,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "probe_runs" ADD CONSTRAINT "probe_runs_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "probe_runs_offer" ON "probe_runs" USING btree ("channel_id","model","created_at");--> statement-breakpoint
CREATE INDEX "probe_runs_created_at" ON "probe_runs" USING btree ("created_at");