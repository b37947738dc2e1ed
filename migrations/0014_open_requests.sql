CREATE TABLE "open_requests" (
	"instance_id" uuid NOT NULL,
	"request_id" uuid NOT NULL,
	"half" "bytea" NOT NULL,
	CONSTRAINT "open_requests_instance_id_request_id_pk" PRIMARY KEY("instance_id","request_id")
);
--> statement-breakpoint
ALTER TABLE "instances" ADD COLUMN "open_columns" text[];