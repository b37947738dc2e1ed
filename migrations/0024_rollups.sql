CREATE TABLE "rollup_backfill" (
	"day" date PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollup_days" (
	"day" timestamp (3) with time zone NOT NULL,
	"cut" text NOT NULL,
	"tenant_id" uuid,
	"key_id" uuid,
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
	CONSTRAINT "rollup_days_parts" UNIQUE NULLS NOT DISTINCT("cut","day","tenant_id","key_id","group_id","model","channel","outcome")
);
--> statement-breakpoint
CREATE TABLE "rollup_deltas" (
	"minute" timestamp (3) with time zone NOT NULL,
	"tenant_id" uuid,
	"key_id" uuid,
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
	"first_token_latency" numeric NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollup_hours" (
	"hour" timestamp (3) with time zone NOT NULL,
	"tenant_id" uuid,
	"key_id" uuid,
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
	CONSTRAINT "rollup_hours_parts" UNIQUE NULLS NOT DISTINCT("hour","tenant_id","key_id","group_id","model","channel","outcome")
);
--> statement-breakpoint
CREATE TABLE "rollup_minutes" (
	"minute" timestamp (3) with time zone NOT NULL,
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
	CONSTRAINT "rollup_minutes_parts" UNIQUE NULLS NOT DISTINCT("minute","channel","outcome")
);
--> statement-breakpoint
CREATE INDEX "rollup_hours_tenant" ON "rollup_hours" USING btree ("tenant_id","hour");--> statement-breakpoint
-- by hand

-- The deltas come and go all day: their space is used again before the table grows, and its end is never cut off.
ALTER TABLE "rollup_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 1000000, vacuum_truncate = false);--> statement-breakpoint
-- The sums of a day change in place.
ALTER TABLE "rollup_days" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "rollup_hours" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "rollup_minutes" SET (fillfactor = 50);--> statement-breakpoint
-- The bucket of a latency in the histograms of the sums: 0 for 0 ms, then four for each doubling. A bucket ends where the
-- next one begins. ledger/latency-histogram.ts has the same list.
CREATE FUNCTION latency_bucket(ms integer) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT width_bucket(ms, '{1,2,3,4,5,6,7,8,10,12,14,16,20,23,27,32,39,46,54,64,77,91,108,128,153,182,216,256,305,363,431,512,609,725,862,1024,1218,1449,1723,2048,2436,2897,3445,4096,4871,5793,6889,8192,9742,11586,13778,16384,19484,23171,27555,32768,38968,46341,55109,65536,77936,92682,110218,131072,155872,185364,220436,262144,311744,370728,440872,524288,623488,741456,881744,1048576,1246975,1482911,1763488,2097152,2493949,2965821,3526976,4194304,4987897,5931642,7053951,8388608,9975793,11863284,14107901,16777216,19951585,23726567,28215802,33554432,39903170,47453133,56431604,67108864,79806339,94906266,112863207,134217728,159612678,189812532,225726413,268435456,319225355,379625063,451452826,536870912,638450709,759250125,902905651,1073741824,1276901417,1518500250,1805811302}'::integer[])
$$;--> statement-breakpoint
-- Trigger: appends what the rows of a statement add to the sums, or take away where they are deleted. Rows that
-- make_partition moves do not come here: it writes to the partitions themselves.
-- A latency of bucket b is 10^(12 b), so that histograms are added as numbers. An orphan has none: nobody saw its end.
CREATE FUNCTION note_request_sums() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO rollup_deltas
  SELECT date_bin('1 minute', c.created_at, 'epoch'), c.tenant_id, c.key_id, c.group_id,
    CASE WHEN c.error_kind = 'model_not_found' THEN NULL ELSE c.requested_model END, c.channel, c.outcome,
    sign * count(*), sign * sum(c.folded), sign * coalesce(sum(c.input_tokens), 0), sign * coalesce(sum(c.cache_read_tokens), 0),
    sign * coalesce(sum(c.cache_write_tokens), 0), sign * coalesce(sum(c.output_tokens), 0),
    sign * coalesce(sum(c.reasoning_tokens), 0), sign * coalesce(sum(c.images), 0), sign * coalesce(sum(c.cost_nano), 0),
    sign * coalesce(sum(c.folded) FILTER (WHERE c.cost_nano IS NULL), 0),
    sign * coalesce(sum(('1e' || 12 * latency_bucket(c.total_ms))::numeric) FILTER (WHERE c.outcome <> 'orphaned'), 0),
    sign * coalesce(sum(('1e' || 12 * latency_bucket(c.first_token_ms))::numeric) FILTER (WHERE c.outcome <> 'orphaned'), 0)
  FROM changed c GROUP BY 1, 2, 3, 4, 5, 6, 7;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER request_sums_added AFTER INSERT ON "requests" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_request_sums();--> statement-breakpoint
CREATE TRIGGER request_sums_taken AFTER DELETE ON "requests" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_request_sums();--> statement-breakpoint
-- The rows that are there now. The triggers have locked out writers, so that each row is either of these or has its delta.
INSERT INTO "rollup_backfill" ("day")
SELECT to_date(right(c.relname, 8), 'YYYYMMDD') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'requests'::regclass AND c.relname ~ '^requests_[0-9]{8}$'
UNION SELECT DISTINCT (d.created_at AT TIME ZONE 'UTC')::date FROM "requests_default" d;
