CREATE TABLE "answer_events" (
	"job_id" uuid NOT NULL,
	"first" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "answer_events_job_id_first_pk" PRIMARY KEY("job_id","first")
);
--> statement-breakpoint
CREATE TABLE "background_answers" (
	"job_id" uuid PRIMARY KEY NOT NULL,
	"answer" "bytea" NOT NULL,
	"events" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "answer_events" ADD CONSTRAINT "answer_events_job_id_background_answers_job_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."background_answers"("job_id") ON DELETE cascade ON UPDATE no action;