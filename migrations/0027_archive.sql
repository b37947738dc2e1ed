CREATE TABLE "archived_days" (
	"day" date NOT NULL,
	"table_name" text NOT NULL,
	"part" integer NOT NULL,
	"state" text NOT NULL,
	"location" text,
	"rows" bigint,
	"sums" jsonb,
	"bytes" bigint,
	"sha256" text,
	"first_at" timestamp (3) with time zone,
	"last_at" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone NOT NULL,
	"verified_at" timestamp (3) with time zone,
	"dropped_at" timestamp (3) with time zone,
	"abandoned_at" timestamp (3) with time zone,
	"error" text,
	CONSTRAINT "archived_days_table_name_day_part_pk" PRIMARY KEY("table_name","day","part")
);
