CREATE TABLE "ledger_verifications" (
	"only" boolean PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"state" text NOT NULL,
	"since" text,
	"started_by" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"is_unwanted" boolean NOT NULL,
	"steps_done" integer NOT NULL,
	"steps" integer NOT NULL,
	"doing" text,
	"findings" jsonb,
	"requests" bigint,
	"orphaned" bigint,
	"error" text
);
