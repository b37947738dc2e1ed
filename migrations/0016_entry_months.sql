CREATE TABLE "entry_checkpoints" (
	"month" date NOT NULL,
	"account_id" uuid NOT NULL,
	"sum_nano" bigint NOT NULL,
	"entries" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "entry_months" (
	"month" date PRIMARY KEY NOT NULL,
	"partition" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"pruned_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "entry_checkpoints_account" ON "entry_checkpoints" USING btree ("month","account_id");