CREATE TABLE "request_answers" (
	"request_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"capture" text NOT NULL,
	"truncated" boolean NOT NULL,
	"answer" text NOT NULL,
	CONSTRAINT "request_answers_request_id_created_at_pk" PRIMARY KEY("request_id","created_at")
);
--> statement-breakpoint
ALTER TABLE "key_groups" ADD COLUMN "capture_answers" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "capture_answers" boolean;--> statement-breakpoint
-- by hand
-- drizzle-kit cannot write a partitioned table: the one above is made again.
DROP TABLE "request_answers";--> statement-breakpoint
CREATE TABLE "request_answers" (
	"request_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"capture" text NOT NULL,
	"truncated" boolean NOT NULL,
	"answer" text NOT NULL,
	CONSTRAINT "request_answers_request_id_created_at_pk" PRIMARY KEY("request_id","created_at")
) PARTITION BY RANGE ("created_at");--> statement-breakpoint
-- Answers are long and read rarely: no compression, so that shipping them costs Postgres little CPU.
ALTER TABLE "request_answers" ALTER COLUMN "answer" SET STORAGE EXTERNAL;--> statement-breakpoint
CREATE TABLE "request_answers_default" PARTITION OF "request_answers" DEFAULT;
