ALTER TABLE "keys" ADD COLUMN "parent_id" uuid;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "sub_keys_max" integer;--> statement-breakpoint
CREATE INDEX "keys_parent" ON "keys" USING btree ("parent_id") WHERE "keys"."parent_id" is not null;