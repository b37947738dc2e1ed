CREATE TABLE "conversation_items" (
	"tenant_id" uuid NOT NULL,
	"conversation_id" text NOT NULL,
	"position" integer NOT NULL,
	"item_id" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"is_sent" boolean NOT NULL,
	"bytes" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "conversation_items_tenant_id_conversation_id_position_pk" PRIMARY KEY("tenant_id","conversation_id","position")
);
--> statement-breakpoint
CREATE TABLE "conversations" (
	"tenant_id" uuid NOT NULL,
	"id" text NOT NULL,
	"key_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"claimed_by" uuid,
	"claimed_for" uuid,
	"next_position" integer NOT NULL,
	"items" integer NOT NULL,
	"bytes" bigint NOT NULL,
	"metadata" "bytea" NOT NULL,
	CONSTRAINT "conversations_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "conversation_items" ADD CONSTRAINT "conversation_items_conversation" FOREIGN KEY ("tenant_id","conversation_id") REFERENCES "public"."conversations"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "conversation_items_id" ON "conversation_items" USING btree ("tenant_id","conversation_id","item_id");--> statement-breakpoint
CREATE INDEX "conversations_expires_at" ON "conversations" USING btree ("expires_at");--> statement-breakpoint
-- by hand
-- Encrypted bytes do not get smaller.
ALTER TABLE "conversations" ALTER COLUMN "metadata" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "conversation_items" ALTER COLUMN "content" SET STORAGE EXTERNAL;
