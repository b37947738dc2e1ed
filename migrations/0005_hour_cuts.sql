CREATE TABLE "rollup_hour_cuts" (
	"hour" timestamp (3) with time zone NOT NULL,
	"cut" text NOT NULL,
	"tenant_id" uuid,
	"group_id" uuid,
	"model" text,
	"channel" text,
	"outcome" text NOT NULL,
	"rows" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"input_tokens" bigint NOT NULL,
	"cache_read_tokens" bigint NOT NULL,
	"cache_write_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"reasoning_tokens" bigint NOT NULL,
	"images" bigint NOT NULL,
	"cost_nano" numeric NOT NULL,
	"unpriced" bigint NOT NULL,
	"total_latency" numeric NOT NULL,
	"first_token_latency" numeric NOT NULL,
	"uncharged_nano" numeric DEFAULT '0' NOT NULL,
	CONSTRAINT "rollup_hour_cuts_parts" UNIQUE NULLS NOT DISTINCT("hour","cut","tenant_id","group_id","model","channel","outcome")
);
--> statement-breakpoint
CREATE TABLE "rollup_hour_cuts_since" (
	"hour" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "rollup_hour_cuts" SET (fillfactor = 50);
