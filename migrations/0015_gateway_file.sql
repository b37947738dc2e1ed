CREATE TABLE "gateway_file" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"hash" "bytea" NOT NULL,
	"revision" bigint,
	"path" text NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"applied_at" timestamp (3) with time zone NOT NULL,
	"catalog_revision" bigint NOT NULL,
	"keys_revision" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schema_state" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"compatible_from" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
INSERT INTO "schema_state" DEFAULT VALUES;
