CREATE TABLE "held_answers" (
	"tenant_id" uuid NOT NULL,
	"answer_id" text NOT NULL,
	"channel" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "held_answers_tenant_id_answer_id_pk" PRIMARY KEY("tenant_id","answer_id")
);
--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "strict" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "held_answers_created_at" ON "held_answers" USING btree ("created_at");