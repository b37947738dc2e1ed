CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"limited" boolean NOT NULL,
	"balance_nano" bigint DEFAULT 0 NOT NULL,
	"reserved_nano" bigint DEFAULT 0 NOT NULL
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
	"image_priority" smallint DEFAULT 0 NOT NULL,
	"total_requests_per_minute" integer,
	"total_tokens_per_minute" integer,
	"total_concurrency" integer,
	"budget_day_nano" bigint,
	"budget_month_nano" bigint,
	"budget_total_nano" bigint,
	"capture_answers" boolean DEFAULT false NOT NULL,
	"public" boolean DEFAULT false NOT NULL,
	"description" text,
	"kept_days" smallint DEFAULT 0 NOT NULL,
	"compact_model" text,
	"client_gone_unseen" text DEFAULT 'estimate' NOT NULL,
	CONSTRAINT "key_groups_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"key_id" uuid NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"request_id" uuid NOT NULL,
	"instance_id" uuid,
	"status" smallint,
	"headers" text,
	"answer" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	"tenant_id" uuid,
	"bytes" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "idempotency_keys_key_id_key_hash_pk" PRIMARY KEY("key_id","key_hash")
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
	"revision" bigint DEFAULT 0 NOT NULL,
	"strict" boolean DEFAULT false NOT NULL,
	"requests_per_minute" integer,
	"tokens_per_minute" integer,
	"concurrency" integer,
	"budget_day_nano" bigint,
	"budget_month_nano" bigint,
	"budget_total_nano" bigint,
	"capture_answers" boolean,
	"former_secret_hash" "bytea",
	"former_secret_until" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"parent_id" uuid,
	"sub_keys_max" integer,
	"disabled_by_member" boolean DEFAULT false NOT NULL,
	"kept_days" smallint
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"managed_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"requests_per_minute" integer,
	"tokens_per_minute" integer,
	"concurrency" integer,
	"rows_days" integer,
	"bodies_days" integer,
	"answers_days" integer,
	CONSTRAINT "tenants_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "admin_answers" (
	"user_id" uuid NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"request_id" uuid NOT NULL,
	"status" smallint,
	"answer" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "admin_answers_user_id_key_hash_pk" PRIMARY KEY("user_id","key_hash")
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" uuid,
	"user_id" uuid,
	"actor_name" text NOT NULL,
	"address" text,
	"user_agent" text,
	"request_id" uuid,
	"action" text NOT NULL,
	"resource" text NOT NULL,
	"resource_id" text NOT NULL,
	"resource_name" text,
	"tenant_id" uuid,
	"before" jsonb,
	"after" jsonb
);
--> statement-breakpoint
CREATE TABLE "alert_episodes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"rule_id" uuid NOT NULL,
	"rule_name" text NOT NULL,
	"kind" text NOT NULL,
	"tenant_id" uuid,
	"subject" text NOT NULL,
	"name" text NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"last_held_at" timestamp (3) with time zone NOT NULL,
	"unheld_since" timestamp (3) with time zone,
	"summary" text NOT NULL,
	"value" text NOT NULL,
	"details" jsonb NOT NULL,
	"acknowledged_at" timestamp (3) with time zone,
	"acknowledged_by" text
);
--> statement-breakpoint
CREATE TABLE "alert_messages" (
	"episode_id" uuid NOT NULL,
	"event" text NOT NULL,
	"rule_id" uuid NOT NULL,
	"summary" text NOT NULL,
	"value" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"state" text NOT NULL,
	"tries" smallint DEFAULT 0 NOT NULL,
	"problem" text,
	"due_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "alert_messages_episode_id_event_pk" PRIMARY KEY("episode_id","event")
);
--> statement-breakpoint
CREATE TABLE "alert_rules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"condition" jsonb NOT NULL,
	"enabled" boolean NOT NULL,
	"resolve_after_seconds" integer NOT NULL,
	"webhook_host" text,
	"webhook_sealed" "bytea",
	"version" integer DEFAULT 1 NOT NULL,
	"evaluated_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "alert_scans" (
	"name" text PRIMARY KEY NOT NULL,
	"last_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_networks" (
	"key_id" uuid NOT NULL,
	"network" text NOT NULL,
	"address" text NOT NULL,
	"first_request_at" timestamp (3) with time zone NOT NULL,
	"noted_at" timestamp (3) with time zone NOT NULL,
	"last_request_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "key_networks_key_id_network_pk" PRIMARY KEY("key_id","network")
);
--> statement-breakpoint
CREATE TABLE "key_uses" (
	"key_id" uuid PRIMARY KEY NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"last_network" text NOT NULL,
	"new_network" text,
	"new_network_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "ledger_reports" (
	"instance_id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"oldest_ms" integer NOT NULL,
	"set_aside" integer NOT NULL,
	"reported_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request_answers" (
	"request_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"capture" text NOT NULL,
	"truncated" boolean NOT NULL,
	"answer" text NOT NULL,
	CONSTRAINT "request_answers_request_id_created_at_pk" PRIMARY KEY("request_id","created_at")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
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
	"image_concurrency" integer,
	"images_per_minute" integer,
	"private_addresses" text[],
	"concurrency" integer,
	"vendor" text,
	"traits" jsonb,
	"connection" jsonb,
	"connection_key_id" text,
	"connection_sealed" "bytea",
	"library_providers" text[],
	"is_address_bounded" boolean DEFAULT false NOT NULL,
	"shared_state" text,
	"plain_members" text[] DEFAULT '{}' NOT NULL,
	"breaker_resets" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "channels_name_unique" UNIQUE("name")
);
--> statement-breakpoint
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
CREATE TABLE "library_prices" (
	"provider" text NOT NULL,
	"ordinal" integer NOT NULL,
	"model" text NOT NULL,
	"match" jsonb NOT NULL,
	"price_id" uuid,
	CONSTRAINT "library_prices_provider_ordinal_pk" PRIMARY KEY("provider","ordinal")
);
--> statement-breakpoint
CREATE TABLE "models" (
	"id" text PRIMARY KEY NOT NULL,
	"context_length" integer,
	"max_output_tokens" integer,
	"disabled_at" timestamp (3) with time zone,
	"managed_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"images" jsonb,
	"aliases" text[] DEFAULT '{}' NOT NULL,
	"fallbacks" text[] DEFAULT '{}' NOT NULL,
	"traits" jsonb,
	"plain_members" text[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "offers" (
	"channel_id" uuid NOT NULL,
	"model_id" text NOT NULL,
	"upstream_model" text NOT NULL,
	"traits" jsonb,
	CONSTRAINT "offers_channel_id_model_id_pk" PRIMARY KEY("channel_id","model_id")
);
--> statement-breakpoint
CREATE TABLE "price_library" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"version" text NOT NULL,
	"renew_url" text,
	"renewed_at" timestamp (3) with time zone,
	"tried_at" timestamp (3) with time zone,
	"managed_by" text DEFAULT 'file' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"model_id" text,
	"input_nano" bigint,
	"cache_read_nano" bigint,
	"cache_write_nano" bigint,
	"output_nano" bigint,
	"reasoning_nano" bigint,
	"image_nano" bigint,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"image_rates" jsonb,
	"cache_write_1h_nano" bigint,
	"audio_input_nano" bigint,
	"audio_output_nano" bigint,
	"web_search_nano" bigint,
	"tiers" jsonb,
	"source" text
);
--> statement-breakpoint
CREATE TABLE "revision" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"catalog" bigint DEFAULT 0 NOT NULL,
	"keys" bigint DEFAULT 0 NOT NULL,
	"masters" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schema_state" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"compatible_from" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "verdicts" (
	"channel_id" uuid NOT NULL,
	"upstream_model" text NOT NULL,
	"protocol" text NOT NULL,
	"subject" text NOT NULL,
	"origin" text NOT NULL,
	"verdict" text NOT NULL,
	"traits" jsonb,
	"evidence" text NOT NULL,
	"request_ids" uuid[] DEFAULT '{}' NOT NULL,
	"cost_nano" bigint,
	"decided_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	CONSTRAINT "verdicts_channel_id_upstream_model_protocol_subject_origin_pk" PRIMARY KEY("channel_id","upstream_model","protocol","subject","origin")
);
--> statement-breakpoint
CREATE TABLE "deleted_sums" (
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
	"first_token_latency" numeric NOT NULL,
	"uncharged_nano" numeric DEFAULT '0' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"end_user" text,
	"end_user_hash" "bytea",
	"what" text NOT NULL,
	"from_at" timestamp (3) with time zone,
	"to_at" timestamp (3) with time zone NOT NULL,
	"dry_run" boolean NOT NULL,
	"state" text NOT NULL,
	"actor" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"leased_until" timestamp (3) with time zone,
	"fence" bigint DEFAULT 0 NOT NULL,
	"passes" smallint DEFAULT 0 NOT NULL,
	"place_table" text,
	"place_at" timestamp (3) with time zone,
	"place_id" uuid,
	"counts" jsonb NOT NULL,
	"counts_before" jsonb,
	"waits_for" text,
	"error" text,
	"not_reached" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenant_sweeps" (
	"tenant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"through" date NOT NULL,
	CONSTRAINT "tenant_sweeps_tenant_id_kind_pk" PRIMARY KEY("tenant_id","kind")
);
--> statement-breakpoint
CREATE TABLE "files" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"state" text NOT NULL,
	"object" text NOT NULL,
	"purpose" text,
	"filename" "bytea",
	"mime" text,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"sha256" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"end_user_hash" "bytea"
);
--> statement-breakpoint
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
	"events" integer NOT NULL,
	"tenant_id" uuid,
	"bytes" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "image_channel_turns" (
	"channel_id" uuid PRIMARY KEY NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"group_id" uuid NOT NULL,
	"state" text NOT NULL,
	"priority" smallint NOT NULL,
	"model" text NOT NULL,
	"request" "bytea",
	"quote" text NOT NULL,
	"opened" text NOT NULL,
	"body" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"enqueued_at" timestamp (3) with time zone,
	"not_before" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"fence" integer DEFAULT 0 NOT NULL,
	"runs" integer DEFAULT 0 NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"channel_id" uuid,
	"cancel_requested" boolean DEFAULT false NOT NULL,
	"attempts" text DEFAULT '[]' NOT NULL,
	"partials" text DEFAULT '[]' NOT NULL,
	"result" text,
	"error" text,
	"cost_nano" bigint,
	"webhook_url" "bytea",
	"webhook_state" text,
	"webhook_tries" smallint DEFAULT 0 NOT NULL,
	"webhook_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sweeps" (
	"name" text PRIMARY KEY NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "conversation_items" (
	"tenant_id" uuid NOT NULL,
	"conversation_id" text NOT NULL,
	"position" integer NOT NULL,
	"item_id" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"is_sent" boolean NOT NULL,
	"bytes" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "conversation_items_tenant_id_conversation_id_position_pk" PRIMARY KEY("tenant_id","conversation_id","position")
);
--> statement-breakpoint
CREATE TABLE "conversations" (
	"tenant_id" uuid NOT NULL,
	"id" text NOT NULL,
	"key_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"claimed_by" uuid,
	"claimed_for" uuid,
	"next_position" integer NOT NULL,
	"items" integer NOT NULL,
	"bytes" bigint NOT NULL,
	"metadata" "bytea" NOT NULL,
	CONSTRAINT "conversations_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "kept_answers" (
	"tenant_id" uuid NOT NULL,
	"id" text NOT NULL,
	"key_id" uuid NOT NULL,
	"protocol" text NOT NULL,
	"previous_id" text,
	"model" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"claimed_by" uuid,
	"claimed_for" uuid,
	"is_continued" boolean DEFAULT false NOT NULL,
	"bytes" integer NOT NULL,
	"content" "bytea" NOT NULL,
	"end_user_hash" "bytea",
	CONSTRAINT "kept_answers_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
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
	"passed_over" boolean DEFAULT false NOT NULL,
	"credential" text,
	CONSTRAINT "attempts_request_id_created_at_ordinal_pk" PRIMARY KEY("request_id","created_at","ordinal")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "breaker_reports" (
	"channel_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"openings" integer NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"open_until" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "breaker_reports_channel_id_instance_id_pk" PRIMARY KEY("channel_id","instance_id")
);
--> statement-breakpoint
CREATE TABLE "budget_periods" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"owner_id" uuid NOT NULL,
	"period" text NOT NULL,
	"starts_at" timestamp (3) with time zone NOT NULL,
	"spent_nano" bigint DEFAULT 0 NOT NULL,
	"reserved_nano" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "entries" (
	"id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"amount_nano" bigint NOT NULL,
	"note" text
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
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
CREATE TABLE "held_answers" (
	"tenant_id" uuid NOT NULL,
	"answer_id" text NOT NULL,
	"channel" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"credential" text,
	"key_id" uuid,
	CONSTRAINT "held_answers_tenant_id_answer_id_pk" PRIMARY KEY("tenant_id","answer_id")
);
--> statement-breakpoint
CREATE TABLE "instances" (
	"id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"heartbeat_at" timestamp (3) with time zone NOT NULL,
	"state" text NOT NULL,
	"open_columns" text[],
	"known_master" text,
	"used_master" text,
	"secret_key_id" text
);
--> statement-breakpoint
CREATE TABLE "journal_positions" (
	"instance_id" uuid NOT NULL,
	"segment" integer NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "journal_positions_instance_id_segment_pk" PRIMARY KEY("instance_id","segment")
);
--> statement-breakpoint
CREATE TABLE "open_requests" (
	"instance_id" uuid NOT NULL,
	"request_id" uuid NOT NULL,
	"half" "bytea" NOT NULL,
	CONSTRAINT "open_requests_instance_id_request_id_pk" PRIMARY KEY("instance_id","request_id")
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
CREATE TABLE "request_tags" (
	"tenant_id" uuid NOT NULL,
	"tag" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"request_id" uuid NOT NULL,
	CONSTRAINT "request_tags_tenant_id_tag_created_at_request_id_pk" PRIMARY KEY("tenant_id","tag","created_at","request_id")
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
	"images" smallint,
	"end_user" text,
	"session" text,
	"tags" text[],
	"cost_facts" text,
	"charged_nano" bigint,
	"error_reason" text,
	CONSTRAINT "requests_id_created_at_pk" PRIMARY KEY("id","created_at")
) PARTITION BY RANGE ("created_at");
--> statement-breakpoint
CREATE TABLE "reservations" (
	"request_id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"amount_nano" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"budget_period_ids" uuid[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "names" (
	"kind" text NOT NULL,
	"id" uuid NOT NULL,
	"name" text,
	"since" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "names_kind_id_since_pk" PRIMARY KEY("kind","id","since")
);
--> statement-breakpoint
CREATE TABLE "noted_requests" (
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"transaction" bigint NOT NULL,
	"written_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tail_watch" (
	"one" boolean PRIMARY KEY NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "probe_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"model" text NOT NULL,
	"upstream_model" text NOT NULL,
	"protocol" text NOT NULL,
	"origin" text NOT NULL,
	"state" text NOT NULL,
	"cost_max_nano" bigint NOT NULL,
	"key_id" uuid,
	"report" jsonb,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
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
	"uncharged_nano" numeric DEFAULT '0' NOT NULL,
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
	"first_token_latency" numeric NOT NULL,
	"uncharged_nano" numeric DEFAULT '0' NOT NULL
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
	"uncharged_nano" numeric DEFAULT '0' NOT NULL,
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
	"uncharged_nano" numeric DEFAULT '0' NOT NULL,
	CONSTRAINT "rollup_minutes_parts" UNIQUE NULLS NOT DISTINCT("minute","channel","outcome")
);
--> statement-breakpoint
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
	"uncharged_nano" numeric DEFAULT '0' NOT NULL,
	CONSTRAINT "rollup_months_parts" UNIQUE NULLS NOT DISTINCT("cut","month","tenant_id","group_id","model","channel","outcome")
);
--> statement-breakpoint
CREATE TABLE "master_key_wrappings" (
	"master_id" text NOT NULL,
	"wrapped_by" text NOT NULL,
	"wrapped" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "master_key_wrappings_master_id_wrapped_by_pk" PRIMARY KEY("master_id","wrapped_by")
);
--> statement-breakpoint
CREATE TABLE "master_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"used_from" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "storage_quota" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"bytes_max" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenant_storage" (
	"tenant_id" uuid PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"user_id" uuid,
	"role" text NOT NULL,
	"tenant_id" uuid,
	"scopes" text[] NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"hint" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_tokens_member_has_tenant" CHECK ((role = 'member') = (tenant_id IS NOT NULL))
);
--> statement-breakpoint
CREATE TABLE "user_identities" (
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "user_identities_issuer_subject_pk" PRIMARY KEY("issuer","subject")
);
--> statement-breakpoint
CREATE TABLE "user_recovery_codes" (
	"user_id" uuid NOT NULL,
	"code_hash" "bytea" NOT NULL,
	CONSTRAINT "user_recovery_codes_user_id_code_hash_pk" PRIMARY KEY("user_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"subject" "bytea" PRIMARY KEY NOT NULL,
	"attempts" integer NOT NULL,
	"resets_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"email" text,
	"role" text,
	"tenant_id" uuid,
	"user_id" uuid,
	"made_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "user_sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"method" text NOT NULL,
	"address" text NOT NULL,
	"user_agent" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"tenant_id" uuid,
	"password_hash" text,
	"totp_secret" "bytea",
	"totp_confirmed_at" timestamp (3) with time zone,
	"totp_step" bigint DEFAULT 0 NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"last_sign_in_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "users_member_has_tenant" CHECK ((role = 'member') = (tenant_id IS NOT NULL))
);
--> statement-breakpoint
CREATE TABLE "ledger_verifications" (
	"only" boolean PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"state" text NOT NULL,
	"since" text,
	"started_by" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"is_unwanted" boolean NOT NULL,
	"steps_done" integer NOT NULL,
	"steps" integer NOT NULL,
	"doing" text,
	"findings" jsonb,
	"requests" bigint,
	"orphaned" bigint,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "saved_views" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"user_name" text NOT NULL,
	"tenant_id" uuid,
	"name" text NOT NULL,
	"page" text NOT NULL,
	"query" jsonb NOT NULL,
	"shared" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_id_tenants_id_fk" FOREIGN KEY ("id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_group_id_key_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."key_groups"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_messages" ADD CONSTRAINT "alert_messages_episode_id_alert_episodes_id_fk" FOREIGN KEY ("episode_id") REFERENCES "public"."alert_episodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_credentials" ADD CONSTRAINT "channel_credentials_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "library_prices" ADD CONSTRAINT "library_prices_price_id_prices_id_fk" FOREIGN KEY ("price_id") REFERENCES "public"."prices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offers" ADD CONSTRAINT "offers_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "prices" ADD CONSTRAINT "prices_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verdicts" ADD CONSTRAINT "verdicts_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "answer_events" ADD CONSTRAINT "answer_events_job_id_background_answers_job_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."background_answers"("job_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conversation_items" ADD CONSTRAINT "conversation_items_conversation" FOREIGN KEY ("tenant_id","conversation_id") REFERENCES "public"."conversations"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "breaker_reports" ADD CONSTRAINT "breaker_reports_instance_id_instances_id_fk" FOREIGN KEY ("instance_id") REFERENCES "public"."instances"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "probe_runs" ADD CONSTRAINT "probe_runs_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "master_key_wrappings" ADD CONSTRAINT "master_key_wrappings_master_id_master_keys_id_fk" FOREIGN KEY ("master_id") REFERENCES "public"."master_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_identities" ADD CONSTRAINT "user_identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_recovery_codes" ADD CONSTRAINT "user_recovery_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_links" ADD CONSTRAINT "user_links_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_links" ADD CONSTRAINT "user_links_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_sessions" ADD CONSTRAINT "user_sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_views" ADD CONSTRAINT "saved_views_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "keys_secret_hash" ON "keys" USING btree ("secret_hash");--> statement-breakpoint
CREATE INDEX "keys_former_secret_hash" ON "keys" USING btree ("former_secret_hash") WHERE "keys"."former_secret_hash" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "keys_tenant_name" ON "keys" USING btree ("tenant_id","name");--> statement-breakpoint
CREATE INDEX "keys_revision" ON "keys" USING btree ("revision");--> statement-breakpoint
CREATE INDEX "keys_group_tenant" ON "keys" USING btree ("group_id","tenant_id") WHERE "keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "keys_parent" ON "keys" USING btree ("parent_id") WHERE "keys"."parent_id" is not null;--> statement-breakpoint
CREATE INDEX "keys_revoked_sub_keys" ON "keys" USING btree ("revoked_at") WHERE "keys"."parent_id" is not null and "keys"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX "admin_answers_created_at" ON "admin_answers" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "audit_log_resource" ON "audit_log" USING btree ("resource","resource_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_tenant" ON "audit_log" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_user" ON "audit_log" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_created_at" ON "audit_log" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "alert_episodes_open" ON "alert_episodes" USING btree ("rule_id","subject") WHERE "alert_episodes"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "alert_episodes_rule" ON "alert_episodes" USING btree ("rule_id","id");--> statement-breakpoint
CREATE INDEX "alert_episodes_tenant" ON "alert_episodes" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "alert_episodes_closed" ON "alert_episodes" USING btree ("closed_at");--> statement-breakpoint
CREATE INDEX "alert_messages_due" ON "alert_messages" USING btree ("due_at") WHERE "alert_messages"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "alert_rules_tenant" ON "alert_rules" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "key_networks_noted" ON "key_networks" USING btree ("noted_at");--> statement-breakpoint
CREATE INDEX "key_networks_last" ON "key_networks" USING btree ("last_request_at");--> statement-breakpoint
CREATE INDEX "prices_model" ON "prices" USING btree ("model_id","created_at");--> statement-breakpoint
CREATE INDEX "deleted_sums_minute" ON "deleted_sums" USING btree ("minute");--> statement-breakpoint
CREATE INDEX "erasures_created_at" ON "erasures" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "files_end_user" ON "files" USING btree ("tenant_id","end_user_hash") WHERE "files"."end_user_hash" is not null;--> statement-breakpoint
CREATE INDEX "files_tenant" ON "files" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "files_expires_at" ON "files" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "files_created_at" ON "files" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "files_unfinished" ON "files" USING btree ("created_at") WHERE "files"."state" <> 'ready';--> statement-breakpoint
CREATE INDEX "jobs_tenant" ON "jobs" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "jobs_waiting" ON "jobs" USING btree ("tenant_id","priority" DESC NULLS LAST,"id") WHERE "jobs"."state" = 'queued' and "jobs"."enqueued_at" is null;--> statement-breakpoint
CREATE INDEX "jobs_enqueued" ON "jobs" USING btree ("tenant_id","enqueued_at") WHERE "jobs"."state" = 'queued' and "jobs"."enqueued_at" is not null;--> statement-breakpoint
CREATE INDEX "jobs_running" ON "jobs" USING btree ("channel_id","leased_until") WHERE "jobs"."state" = 'running';--> statement-breakpoint
CREATE INDEX "jobs_webhook" ON "jobs" USING btree ("webhook_at") WHERE "jobs"."webhook_state" = 'pending';--> statement-breakpoint
CREATE INDEX "jobs_created_at" ON "jobs" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "conversation_items_id" ON "conversation_items" USING btree ("tenant_id","conversation_id","item_id");--> statement-breakpoint
CREATE INDEX "conversations_expires_at" ON "conversations" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "kept_answers_created" ON "kept_answers" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "kept_answers_end_user" ON "kept_answers" USING btree ("tenant_id","end_user_hash") WHERE "kept_answers"."end_user_hash" is not null;--> statement-breakpoint
CREATE INDEX "kept_answers_expires_at" ON "kept_answers" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "kept_answers_previous" ON "kept_answers" USING btree ("tenant_id","previous_id") WHERE "kept_answers"."previous_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "budget_periods_owner" ON "budget_periods" USING btree ("owner_id","period","starts_at");--> statement-breakpoint
CREATE INDEX "entry_checkpoints_account" ON "entry_checkpoints" USING btree ("month","account_id");--> statement-breakpoint
CREATE INDEX "held_answers_created_at" ON "held_answers" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "requests_tenant" ON "requests" USING btree ("tenant_id","created_at","key_id");--> statement-breakpoint
CREATE INDEX "requests_model" ON "requests" USING btree ("tenant_id","requested_model","created_at");--> statement-breakpoint
CREATE INDEX "requests_served_model" ON "requests" USING btree ("tenant_id","served_model","created_at") WHERE "requests"."served_model" <> "requests"."requested_model";--> statement-breakpoint
CREATE INDEX "requests_unusual" ON "requests" USING btree ("tenant_id","created_at","status","outcome","requested_model","served_model","key_id") WHERE "requests"."outcome" <> 'succeeded' or "requests"."status" <> 200;--> statement-breakpoint
CREATE INDEX "requests_endpoint" ON "requests" USING btree ("tenant_id","endpoint","created_at") WHERE "requests"."endpoint" <> '/v1/chat/completions';--> statement-breakpoint
CREATE INDEX "requests_end_user" ON "requests" USING btree ("tenant_id","end_user","created_at") WHERE "requests"."end_user" is not null;--> statement-breakpoint
CREATE INDEX "requests_session" ON "requests" USING btree ("tenant_id","session","created_at") WHERE "requests"."session" is not null;--> statement-breakpoint
CREATE INDEX "reservations_instance" ON "reservations" USING btree ("instance_id");--> statement-breakpoint
CREATE INDEX "names_name" ON "names" USING btree ("kind","name");--> statement-breakpoint
CREATE INDEX "noted_requests_transaction" ON "noted_requests" USING btree ("transaction");--> statement-breakpoint
CREATE INDEX "probe_runs_offer" ON "probe_runs" USING btree ("channel_id","model","created_at");--> statement-breakpoint
CREATE INDEX "probe_runs_created_at" ON "probe_runs" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "rollup_hours_tenant" ON "rollup_hours" USING btree ("tenant_id","hour");--> statement-breakpoint
CREATE UNIQUE INDEX "api_tokens_token" ON "api_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "api_tokens_user" ON "api_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "user_identities_user" ON "user_identities" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sign_in_attempts_resets" ON "sign_in_attempts" USING btree ("resets_at");--> statement-breakpoint
CREATE UNIQUE INDEX "user_links_token" ON "user_links" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "user_sessions_token" ON "user_sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "user_sessions_user" ON "user_sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "user_sessions_expires" ON "user_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "saved_views_user" ON "saved_views" USING btree ("user_id","page");--> statement-breakpoint
CREATE INDEX "saved_views_shared" ON "saved_views" USING btree ("tenant_id","page") WHERE "saved_views"."shared";--> statement-breakpoint

-- By hand: what drizzle-kit does not write.

-- It compresses what is long. Bodies are read rarely, and encrypted bytes do not get smaller.
ALTER TABLE "request_payloads" ALTER COLUMN "body" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "request_answers" ALTER COLUMN "answer" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "kept_answers" ALTER COLUMN "content" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "conversations" ALTER COLUMN "metadata" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "conversation_items" ALTER COLUMN "content" SET STORAGE EXTERNAL;--> statement-breakpoint

-- The partitions of days are made by make_partition.
CREATE TABLE "requests_default" PARTITION OF "requests" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_payloads_default" PARTITION OF "request_payloads" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_answers_default" PARTITION OF "request_answers" DEFAULT;--> statement-breakpoint
CREATE TABLE "attempts_default" PARTITION OF "attempts" DEFAULT;--> statement-breakpoint
CREATE TABLE "request_tags_default" PARTITION OF "request_tags" DEFAULT;--> statement-breakpoint

-- The deltas come and go all day: their space is used again before the table grows, and its end is never cut off.
ALTER TABLE "rollup_deltas" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 1000000, vacuum_truncate = false);--> statement-breakpoint
-- Sums change in place. With this much room in a page, nearly all changes of a sum stay in it, and its index is left alone.
ALTER TABLE "rollup_minutes" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "rollup_hours" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "rollup_days" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "rollup_months" SET (fillfactor = 50);--> statement-breakpoint

-- The budgets in force, by their owner.
CREATE VIEW budgets (owner_id, owner, period, limit_nano) AS
  SELECT k.id, 'key', b.period, b.limit_nano
  FROM keys k CROSS JOIN LATERAL (
    VALUES ('day', k.budget_day_nano), ('month', k.budget_month_nano), ('total', k.budget_total_nano)
  ) AS b (period, limit_nano)
  WHERE b.limit_nano IS NOT NULL
  UNION ALL
  SELECT g.id, 'group', b.period, b.limit_nano
  FROM key_groups g CROSS JOIN LATERAL (
    VALUES ('day', g.budget_day_nano), ('month', g.budget_month_nano), ('total', g.budget_total_nano)
  ) AS b (period, limit_nano)
  WHERE b.limit_nano IS NOT NULL;--> statement-breakpoint

-- Triggers need their functions. src/db/functions has the real bodies, which a start applies next.
CREATE FUNCTION raise_catalog_revision() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION raise_key_revision() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION count_new_budgets() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION note_request_tags() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION note_request_sums() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION note_name() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE FUNCTION book_storage() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint

CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "models" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "prices" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "channels" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "channel_credentials" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "offers" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "verdicts" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "library_prices" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "key_groups" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON "tenants" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER catalog_revision AFTER UPDATE OF "limited" ON "accounts" FOR EACH STATEMENT EXECUTE FUNCTION raise_catalog_revision();--> statement-breakpoint
CREATE TRIGGER key_revision BEFORE INSERT OR UPDATE ON "keys" FOR EACH ROW EXECUTE FUNCTION raise_key_revision();--> statement-breakpoint

CREATE TRIGGER tenant_inserted AFTER INSERT OR DELETE ON "tenants" FOR EACH ROW EXECUTE FUNCTION note_name('tenant');--> statement-breakpoint
CREATE TRIGGER tenant_renamed AFTER UPDATE ON "tenants" FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION note_name('tenant');--> statement-breakpoint
CREATE TRIGGER key_inserted AFTER INSERT OR DELETE ON "keys" FOR EACH ROW EXECUTE FUNCTION note_name('key');--> statement-breakpoint
CREATE TRIGGER key_renamed AFTER UPDATE ON "keys" FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION note_name('key');--> statement-breakpoint
CREATE TRIGGER group_inserted AFTER INSERT OR DELETE ON "key_groups" FOR EACH ROW EXECUTE FUNCTION note_name('group');--> statement-breakpoint
CREATE TRIGGER group_renamed AFTER UPDATE ON "key_groups" FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION note_name('group');--> statement-breakpoint

CREATE CONSTRAINT TRIGGER count_new_budgets AFTER UPDATE OF "budget_day_nano", "budget_month_nano", "budget_total_nano" ON "keys"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.budget_day_nano IS NULL AND NEW.budget_day_nano IS NOT NULL
    OR OLD.budget_month_nano IS NULL AND NEW.budget_month_nano IS NOT NULL
    OR OLD.budget_total_nano IS NULL AND NEW.budget_total_nano IS NOT NULL)
  EXECUTE FUNCTION count_new_budgets();--> statement-breakpoint
CREATE CONSTRAINT TRIGGER count_new_budgets AFTER UPDATE OF "budget_day_nano", "budget_month_nano", "budget_total_nano" ON "key_groups"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.budget_day_nano IS NULL AND NEW.budget_day_nano IS NOT NULL
    OR OLD.budget_month_nano IS NULL AND NEW.budget_month_nano IS NOT NULL
    OR OLD.budget_total_nano IS NULL AND NEW.budget_total_nano IS NOT NULL)
  EXECUTE FUNCTION count_new_budgets();--> statement-breakpoint

CREATE TRIGGER request_tags AFTER INSERT ON "requests" FOR EACH ROW
  WHEN (NEW.tags IS NOT NULL AND NEW.tenant_id IS NOT NULL) EXECUTE FUNCTION note_request_tags();--> statement-breakpoint
CREATE TRIGGER request_sums_added AFTER INSERT ON "requests" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_request_sums();--> statement-breakpoint
CREATE TRIGGER request_sums_taken AFTER DELETE ON "requests" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION note_request_sums();--> statement-breakpoint

CREATE TRIGGER "kept_answers_stored" AFTER INSERT OR UPDATE OF "bytes" ON "kept_answers" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "kept_answers_removed" AFTER DELETE ON "kept_answers" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "conversations_stored" AFTER INSERT OR UPDATE OF "bytes" ON "conversations" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "conversations_removed" AFTER DELETE ON "conversations" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "files_stored" AFTER INSERT OR UPDATE OF "bytes" ON "files" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "files_removed" AFTER DELETE ON "files" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "idempotency_keys_stored" AFTER INSERT OR UPDATE OF "bytes" ON "idempotency_keys" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "idempotency_keys_removed" AFTER DELETE ON "idempotency_keys" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "background_answers_stored" AFTER INSERT OR UPDATE OF "bytes" ON "background_answers" FOR EACH ROW EXECUTE FUNCTION book_storage();--> statement-breakpoint
CREATE TRIGGER "background_answers_removed" AFTER DELETE ON "background_answers" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION book_storage();--> statement-breakpoint

-- Months of entries have their own keys, since a key of the whole table would need the moment too. All before this month is the
-- first one: make_entry_month makes those that follow.
CREATE TABLE "entries_default" PARTITION OF "entries" (PRIMARY KEY ("id")) DEFAULT;--> statement-breakpoint
CREATE TABLE "entries_before" (LIKE "entries" INCLUDING DEFAULTS, CONSTRAINT "entries_pkey" PRIMARY KEY ("id"));--> statement-breakpoint
INSERT INTO "entry_months" ("month", "partition", "starts_at", "ends_at")
SELECT m.month - interval '1 month', 'entries_before', '-infinity', m.month AT TIME ZONE 'UTC'
FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AS month) AS m;--> statement-breakpoint
DO $$ BEGIN
  EXECUTE format('ALTER TABLE entries ATTACH PARTITION entries_before FOR VALUES FROM (MINVALUE) TO (%L)',
    (SELECT m.ends_at FROM entry_months m));
END $$;--> statement-breakpoint

INSERT INTO "revision" ("id") VALUES (1);--> statement-breakpoint
INSERT INTO "schema_state" DEFAULT VALUES;
