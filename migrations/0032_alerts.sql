CREATE TABLE "alert_episodes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"rule_id" uuid NOT NULL,
	"rule_name" text NOT NULL,
	"kind" text NOT NULL,
	"tenant_id" uuid,
	"subject" text NOT NULL,
	"name" text NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"last_held_at" timestamp (3) with time zone NOT NULL,
	"unheld_since" timestamp (3) with time zone,
	"summary" text NOT NULL,
	"value" text NOT NULL,
	"details" jsonb NOT NULL,
	"acknowledged_at" timestamp (3) with time zone,
	"acknowledged_by" text
);
--> statement-breakpoint
CREATE TABLE "alert_messages" (
	"episode_id" uuid NOT NULL,
	"event" text NOT NULL,
	"rule_id" uuid NOT NULL,
	"summary" text NOT NULL,
	"value" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"state" text NOT NULL,
	"tries" smallint DEFAULT 0 NOT NULL,
	"problem" text,
	"due_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "alert_messages_episode_id_event_pk" PRIMARY KEY("episode_id","event")
);
--> statement-breakpoint
CREATE TABLE "alert_rules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"condition" jsonb NOT NULL,
	"enabled" boolean NOT NULL,
	"resolve_after_seconds" integer NOT NULL,
	"webhook_host" text,
	"webhook_sealed" "bytea",
	"version" integer DEFAULT 1 NOT NULL,
	"evaluated_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "alert_scans" (
	"name" text PRIMARY KEY NOT NULL,
	"last_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_networks" (
	"key_id" uuid NOT NULL,
	"network" text NOT NULL,
	"address" text NOT NULL,
	"first_request_at" timestamp (3) with time zone NOT NULL,
	"noted_at" timestamp (3) with time zone NOT NULL,
	"last_request_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "key_networks_key_id_network_pk" PRIMARY KEY("key_id","network")
);
--> statement-breakpoint
CREATE TABLE "ledger_reports" (
	"instance_id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"oldest_ms" integer NOT NULL,
	"set_aside" integer NOT NULL,
	"reported_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "alert_messages" ADD CONSTRAINT "alert_messages_episode_id_alert_episodes_id_fk" FOREIGN KEY ("episode_id") REFERENCES "public"."alert_episodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "alert_episodes_open" ON "alert_episodes" USING btree ("rule_id","subject") WHERE "alert_episodes"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "alert_episodes_rule" ON "alert_episodes" USING btree ("rule_id","id");--> statement-breakpoint
CREATE INDEX "alert_episodes_tenant" ON "alert_episodes" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "alert_episodes_closed" ON "alert_episodes" USING btree ("closed_at");--> statement-breakpoint
CREATE INDEX "alert_messages_due" ON "alert_messages" USING btree ("due_at") WHERE "alert_messages"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "alert_rules_tenant" ON "alert_rules" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "key_networks_noted" ON "key_networks" USING btree ("noted_at");--> statement-breakpoint
CREATE INDEX "key_networks_last" ON "key_networks" USING btree ("last_request_at");