CREATE TABLE "budget_periods" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"owner_id" uuid NOT NULL,
	"period" text NOT NULL,
	"starts_at" timestamp (3) with time zone NOT NULL,
	"spent_nano" bigint DEFAULT 0 NOT NULL,
	"reserved_nano" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "channel_breakers" (
	"channel_id" uuid PRIMARY KEY NOT NULL,
	"openings" integer NOT NULL,
	"open_until" timestamp (3) with time zone NOT NULL,
	"probe_at" timestamp (3) with time zone NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "passed_over" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "private_addresses" text[];--> statement-breakpoint
ALTER TABLE "entries" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "total_requests_per_minute" integer;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "total_tokens_per_minute" integer;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "total_concurrency" integer;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "budget_day_nano" bigint;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "budget_month_nano" bigint;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "budget_total_nano" bigint;--> statement-breakpoint
ALTER TABLE "held_answers" ADD COLUMN "credential" text;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "requests_per_minute" integer;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "tokens_per_minute" integer;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "concurrency" integer;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "budget_day_nano" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "budget_month_nano" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "budget_total_nano" bigint;--> statement-breakpoint
ALTER TABLE "models" ADD COLUMN "aliases" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "models" ADD COLUMN "fallbacks" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "reservations" ADD COLUMN "budget_period_ids" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "requests_per_minute" integer;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "tokens_per_minute" integer;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "concurrency" integer;--> statement-breakpoint
CREATE UNIQUE INDEX "budget_periods_owner" ON "budget_periods" USING btree ("owner_id","period","starts_at");