CREATE TABLE "noted_requests" (
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"transaction" bigint NOT NULL,
	"written_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tail_watch" (
	"one" boolean PRIMARY KEY NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "noted_requests_transaction" ON "noted_requests" USING btree ("transaction");