CREATE TABLE "answer_events" (
	"job_id" uuid NOT NULL,
	"first" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "answer_events_job_id_first_pk" PRIMARY KEY("job_id","first")
);
--> statement-breakpoint
ALTER TABLE "image_jobs" ADD COLUMN "kind" text DEFAULT 'image' NOT NULL;--> statement-breakpoint
ALTER TABLE "image_jobs" ADD COLUMN "answer" bytea;--> statement-breakpoint
ALTER TABLE "image_jobs" ADD COLUMN "events" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "answer_events" ADD CONSTRAINT "answer_events_job_id_image_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."image_jobs"("id") ON DELETE cascade ON UPDATE no action NOT VALID;