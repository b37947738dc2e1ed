CREATE TABLE "master_key_wrappings" (
	"master_id" text NOT NULL,
	"wrapped_by" text NOT NULL,
	"wrapped" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "master_key_wrappings_master_id_wrapped_by_pk" PRIMARY KEY("master_id","wrapped_by")
);
--> statement-breakpoint
CREATE TABLE "master_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"used_from" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "revision" ADD COLUMN "masters" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "instances" ADD COLUMN "known_master" text;--> statement-breakpoint
ALTER TABLE "instances" ADD COLUMN "used_master" text;--> statement-breakpoint
ALTER TABLE "instances" ADD COLUMN "secret_key_id" text;--> statement-breakpoint
ALTER TABLE "master_key_wrappings" ADD CONSTRAINT "master_key_wrappings_master_id_master_keys_id_fk" FOREIGN KEY ("master_id") REFERENCES "public"."master_keys"("id") ON DELETE no action ON UPDATE no action;