CREATE TABLE "idempotency_keys" (
	"key_id" uuid NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"request_id" uuid NOT NULL,
	"instance_id" uuid,
	"status" smallint,
	"headers" text,
	"answer" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_key_id_key_hash_pk" PRIMARY KEY("key_id","key_hash")
);
--> statement-breakpoint
CREATE TABLE "image_channel_turns" (
	"channel_id" uuid PRIMARY KEY NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "image_jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"group_id" uuid NOT NULL,
	"state" text NOT NULL,
	"priority" smallint NOT NULL,
	"model" text NOT NULL,
	"request" "bytea",
	"quote" text NOT NULL,
	"opened" text NOT NULL,
	"body" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"enqueued_at" timestamp (3) with time zone,
	"not_before" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"fence" integer DEFAULT 0 NOT NULL,
	"runs" integer DEFAULT 0 NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"channel_id" uuid,
	"cancel_requested" boolean DEFAULT false NOT NULL,
	"attempts" text DEFAULT '[]' NOT NULL,
	"partials" text DEFAULT '[]' NOT NULL,
	"result" text,
	"error" text,
	"cost_nano" bigint,
	"webhook_url" "bytea",
	"webhook_state" text,
	"webhook_tries" smallint DEFAULT 0 NOT NULL,
	"webhook_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "image_concurrency" integer;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "images_per_minute" integer;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "image_priority" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "models" ADD COLUMN "images" jsonb;--> statement-breakpoint
ALTER TABLE "prices" ADD COLUMN "image_rates" jsonb;--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "images" smallint;--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "image_jobs_tenant" ON "image_jobs" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "image_jobs_waiting" ON "image_jobs" USING btree ("tenant_id","priority" DESC NULLS LAST,"id") WHERE "image_jobs"."state" = 'queued' and "image_jobs"."enqueued_at" is null;--> statement-breakpoint
CREATE INDEX "image_jobs_enqueued" ON "image_jobs" USING btree ("tenant_id","enqueued_at") WHERE "image_jobs"."state" = 'queued' and "image_jobs"."enqueued_at" is not null;--> statement-breakpoint
CREATE INDEX "image_jobs_running" ON "image_jobs" USING btree ("channel_id","leased_until") WHERE "image_jobs"."state" = 'running';--> statement-breakpoint
CREATE INDEX "image_jobs_webhook" ON "image_jobs" USING btree ("webhook_at") WHERE "image_jobs"."webhook_state" = 'pending';--> statement-breakpoint
CREATE INDEX "image_jobs_created_at" ON "image_jobs" USING btree ("created_at");