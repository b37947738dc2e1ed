CREATE TABLE "deleted_sums" (
	"minute" timestamp (3) with time zone NOT NULL,
	"tenant_id" uuid,
	"key_id" uuid,
	"group_id" uuid,
	"model" text,
	"channel" text,
	"outcome" text NOT NULL,
	"rows" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"input_tokens" bigint NOT NULL,
	"cache_read_tokens" bigint NOT NULL,
	"cache_write_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"reasoning_tokens" bigint NOT NULL,
	"images" bigint NOT NULL,
	"cost_nano" numeric NOT NULL,
	"unpriced" bigint NOT NULL,
	"total_latency" numeric NOT NULL,
	"first_token_latency" numeric NOT NULL
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"end_user" text,
	"end_user_hash" "bytea",
	"what" text NOT NULL,
	"from_at" timestamp (3) with time zone,
	"to_at" timestamp (3) with time zone NOT NULL,
	"dry_run" boolean NOT NULL,
	"state" text NOT NULL,
	"actor" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"leased_until" timestamp (3) with time zone,
	"fence" bigint DEFAULT 0 NOT NULL,
	"passes" smallint DEFAULT 0 NOT NULL,
	"place_table" text,
	"place_at" timestamp (3) with time zone,
	"place_id" uuid,
	"counts" jsonb NOT NULL,
	"counts_before" jsonb,
	"waits_for" text,
	"error" text,
	"not_reached" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenant_sweeps" (
	"tenant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"through" date NOT NULL,
	CONSTRAINT "tenant_sweeps_tenant_id_kind_pk" PRIMARY KEY("tenant_id","kind")
);
--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "rows_days" integer;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "bodies_days" integer;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "answers_days" integer;--> statement-breakpoint
CREATE INDEX "deleted_sums_minute" ON "deleted_sums" USING btree ("minute");--> statement-breakpoint
CREATE INDEX "erasures_created_at" ON "erasures" USING btree ("created_at");