CREATE TABLE "rollup_months" (
	"month" timestamp (3) with time zone NOT NULL,
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
	CONSTRAINT "rollup_months_parts" UNIQUE NULLS NOT DISTINCT("cut","month","tenant_id","group_id","model","channel","outcome")
);--> statement-breakpoint
-- by hand

-- The sums of a month change in place.
ALTER TABLE "rollup_months" SET (fillfactor = 50);--> statement-breakpoint
-- With more room in a page, nearly all changes of a sum stay in it, and its index is left alone.
ALTER TABLE "rollup_days" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "rollup_hours" SET (fillfactor = 50);--> statement-breakpoint
-- No process folds meanwhile.
SELECT pg_advisory_xact_lock(7023917);--> statement-breakpoint
INSERT INTO "rollup_months"
SELECT date_trunc('month', day, 'UTC'), cut, tenant_id, group_id, model, channel, outcome, sum(rows), sum(requests), sum(input_tokens),
  sum(cache_read_tokens), sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), sum(images), sum(cost_nano), sum(unpriced),
  sum(total_latency), sum(first_token_latency)
FROM "rollup_days" WHERE cut IN ('tenant', 'group', 'model', 'channel') GROUP BY 1, 2, 3, 4, 5, 6, 7;
