ALTER TABLE "channels" ADD COLUMN "is_address_bounded" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "shared_state" text;--> statement-breakpoint
CREATE INDEX "keys_group_tenant" ON "keys" USING btree ("group_id","tenant_id") WHERE "keys"."revoked_at" is null;