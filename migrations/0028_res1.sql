ALTER TABLE "key_groups" ADD COLUMN "public" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "description" text;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "former_secret_hash" "bytea";--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "former_secret_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "revoked_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "keys_former_secret_hash" ON "keys" USING btree ("former_secret_hash") WHERE "keys"."former_secret_hash" is not null;