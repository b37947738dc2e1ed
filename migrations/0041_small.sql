ALTER TABLE "key_groups" ADD COLUMN "compact_model" text;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "end_user_hash" "bytea";--> statement-breakpoint
ALTER TABLE "kept_answers" ADD COLUMN "end_user_hash" "bytea";--> statement-breakpoint
CREATE INDEX "files_end_user" ON "files" USING btree ("tenant_id","end_user_hash") WHERE "files"."end_user_hash" is not null;--> statement-breakpoint
CREATE INDEX "kept_answers_end_user" ON "kept_answers" USING btree ("tenant_id","end_user_hash") WHERE "kept_answers"."end_user_hash" is not null;