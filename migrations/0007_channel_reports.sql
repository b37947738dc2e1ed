ALTER TABLE "breaker_reports" ADD COLUMN "kind" text DEFAULT 'breaker' NOT NULL;--> statement-breakpoint
ALTER TABLE "breaker_reports" ADD COLUMN "waiting" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "breaker_reports" ADD COLUMN "oldest_at" timestamp (3) with time zone;