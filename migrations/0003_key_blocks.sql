CREATE TABLE "key_blocks" (
	"key_id" uuid PRIMARY KEY NOT NULL,
	"secret_hashes" text[] NOT NULL,
	"reason" text NOT NULL,
	"blocked_at" timestamp (3) with time zone NOT NULL,
	"blocked_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "key_blocks" ADD CONSTRAINT "key_blocks_key_id_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."keys"("id") ON DELETE cascade ON UPDATE no action;