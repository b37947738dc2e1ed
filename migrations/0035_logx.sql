CREATE TABLE "late_requests" (
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"transaction" bigint NOT NULL,
	"written_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "late_requests_transaction" ON "late_requests" USING btree ("transaction");