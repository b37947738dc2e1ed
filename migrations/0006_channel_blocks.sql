ALTER TABLE "channels" ADD COLUMN "blocked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "blocked_by" text;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "block_reason" text;