CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"limited" boolean NOT NULL,
	"balance_nano" bigint DEFAULT 0 NOT NULL,
	"reserved_nano" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"request_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ordinal" smallint NOT NULL,
	"channel" text NOT NULL,
	"upstream_protocol" text,
	"upstream_model" text,
	"reason" text NOT NULL,
	"status" smallint,
	"error_kind" text,
	"error_message" text,
	"first_byte_ms" integer,
	"total_ms" integer,
	"upstream_request_id" text,
	CONSTRAINT "attempts_request_id_created_at_ordinal_pk" PRIMARY KEY("request_id","created_at","ordinal")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "channel_credentials" (
	"channel_id" uuid NOT NULL,
	"ordinal" smallint NOT NULL,
	"key_id" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	CONSTRAINT "channel_credentials_channel_id_ordinal_pk" PRIMARY KEY("channel_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "channels" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"protocols" jsonb NOT NULL,
	"priority" integer DEFAULT 0 NOT NULL,
	"weight" integer DEFAULT 1 NOT NULL,
	"allow_private_address" boolean DEFAULT false NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"managed_by" text NOT NULL,
	CONSTRAINT "channels_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"amount_nano" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_groups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"models" text[] NOT NULL,
	"channels" text[] NOT NULL,
	"price_multiplier" text DEFAULT '1' NOT NULL,
	"client_gone_policy" text DEFAULT 'drain' NOT NULL,
	"client_gone_seconds" integer DEFAULT 30 NOT NULL,
	"requests_per_minute" integer,
	"tokens_per_minute" integer,
	"concurrency" integer,
	"managed_by" text NOT NULL,
	CONSTRAINT "key_groups_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "instances" (
	"id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"heartbeat_at" timestamp (3) with time zone NOT NULL,
	"state" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "journal_positions" (
	"instance_id" uuid NOT NULL,
	"segment" integer NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "journal_positions_instance_id_segment_pk" PRIMARY KEY("instance_id","segment")
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"group_id" uuid NOT NULL,
	"name" text NOT NULL,
	"secret_hash" "bytea" NOT NULL,
	"hint" text NOT NULL,
	"capture" text DEFAULT 'content' NOT NULL,
	"usage_scope" text DEFAULT 'tenant' NOT NULL,
	"allowed_models" text[],
	"allowed_cidrs" text[],
	"expires_at" timestamp (3) with time zone,
	"disabled_at" timestamp (3) with time zone,
	"managed_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revision" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "models" (
	"id" text PRIMARY KEY NOT NULL,
	"context_length" integer,
	"max_output_tokens" integer,
	"disabled_at" timestamp (3) with time zone,
	"managed_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "offers" (
	"channel_id" uuid NOT NULL,
	"model_id" text NOT NULL,
	"upstream_model" text NOT NULL,
	CONSTRAINT "offers_channel_id_model_id_pk" PRIMARY KEY("channel_id","model_id")
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"model_id" text NOT NULL,
	"input_nano" bigint,
	"cache_read_nano" bigint,
	"cache_write_nano" bigint,
	"output_nano" bigint,
	"reasoning_nano" bigint,
	"image_nano" bigint,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request_payloads" (
	"request_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"capture" text NOT NULL,
	"body" text NOT NULL,
	CONSTRAINT "request_payloads_request_id_created_at_pk" PRIMARY KEY("request_id","created_at")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "requests" (
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"tenant_id" uuid,
	"key_id" uuid,
	"group_id" uuid,
	"endpoint" text NOT NULL,
	"client_protocol" text,
	"upstream_protocol" text,
	"requested_model" text,
	"served_model" text,
	"channel" text,
	"stream" boolean NOT NULL,
	"status" smallint NOT NULL,
	"outcome" text NOT NULL,
	"error_kind" text,
	"error_message" text,
	"error_upstream_status" smallint,
	"finish_reason" text,
	"input_tokens" integer,
	"cache_read_tokens" integer,
	"cache_write_tokens" integer,
	"output_tokens" integer,
	"reasoning_tokens" integer,
	"usage_source" text NOT NULL,
	"stream_end" text,
	"cost_nano" bigint,
	"price_id" uuid,
	"price_multiplier" text,
	"queue_ms" integer,
	"first_token_ms" integer,
	"total_ms" integer,
	"attempt_count" smallint NOT NULL,
	"notes" text,
	"client_address" text,
	"user_agent" text,
	"upstream_request_id" text,
	"idempotency_key" text,
	"folded" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "requests_id_created_at_pk" PRIMARY KEY("id","created_at")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "reservations" (
	"request_id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"amount_nano" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "revision" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"catalog" bigint DEFAULT 0 NOT NULL,
	"keys" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"managed_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tenants_name_unique" UNIQUE("name")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_id_tenants_id_fk" FOREIGN KEY ("id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_credentials" ADD CONSTRAINT "channel_credentials_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_group_id_key_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."key_groups"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offers" ADD CONSTRAINT "offers_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "prices" ADD CONSTRAINT "prices_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "keys_secret_hash" ON "keys" USING btree ("secret_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "keys_tenant_name" ON "keys" USING btree ("tenant_id","name");--> statement-breakpoint
CREATE INDEX "keys_revision" ON "keys" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "prices_model" ON "prices" USING btree ("model_id","created_at");--> statement-breakpoint
CREATE INDEX "requests_tenant" ON "requests" USING btree ("tenant_id","created_at");--> statement-breakpoint
CREATE INDEX "reservations_instance" ON "reservations" USING btree ("instance_id");