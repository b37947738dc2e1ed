ALTER TABLE "key_groups" ADD COLUMN "client_gone_unseen" text DEFAULT 'estimate' NOT NULL;--> statement-breakpoint
ALTER TABLE "deleted_sums" ADD COLUMN "uncharged_nano" numeric DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "charged_nano" bigint;--> statement-breakpoint
ALTER TABLE "rollup_days" ADD COLUMN "uncharged_nano" numeric DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_deltas" ADD COLUMN "uncharged_nano" numeric DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_hours" ADD COLUMN "uncharged_nano" numeric DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_minutes" ADD COLUMN "uncharged_nano" numeric DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "rollup_months" ADD COLUMN "uncharged_nano" numeric DEFAULT '0' NOT NULL;