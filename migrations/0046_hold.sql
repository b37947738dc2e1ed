ALTER TABLE "channels" ADD COLUMN "plain_members" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "models" ADD COLUMN "plain_members" text[] DEFAULT '{}' NOT NULL;