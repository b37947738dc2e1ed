// Made from /openapi.json by test/api/openapi-client.test.ts. Make it anew with its flag -u.

export interface paths {
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Chat completions
         * @description In the vendor's format. A channel that speaks it gets the request unchanged but for the model's name; for any other the request is translated.
         */
        post: operations["postChatCompletions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Responses
         * @description In the vendor's format. A channel that speaks it gets the request unchanged but for the model's name; for any other the request is translated.
         */
        post: operations["postResponses"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Messages
         * @description In the vendor's format. A channel that speaks it gets the request unchanged but for the model's name; for any other the request is translated.
         */
        post: operations["postMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Embeddings
         * @description In the vendor's format. The request goes as it came to a channel that speaks that vendor's format of chats.
         */
        post: operations["postEmbeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/moderations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Moderations
         * @description In the vendor's format. The request goes as it came to a channel that speaks that vendor's format of chats.
         */
        post: operations["postModerations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Completions of a prompt
         * @description In the vendor's format. The request goes as it came to a channel that speaks that vendor's format of chats.
         */
        post: operations["postCompletions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/generations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Image jobs, newest first */
        get: operations["getImagesGenerations"];
        put?: never;
        /**
         * Image generations
         * @description In the vendor's format. The request becomes a job. The answer comes when the images are made; with `prefer: respond-async`, or after IMAGE_WAIT_MS, it is the job.
         */
        post: operations["postImagesGenerations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/input_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * How many tokens a request would have
         * @description A channel that speaks the format counts them. Where none does, the answer is an estimate, and the header `x-tollgate-estimated: true` says so.
         */
        post: operations["postResponsesInputTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * How many tokens a request would have
         * @description A channel that speaks the format counts them. Where none does, the answer is an estimate, and the header `x-tollgate-estimated: true` says so.
         */
        post: operations["postMessagesCountTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An answer that an upstream keeps
         * @description Of the query, `include` and `starting_after` go upstream; `stream` is refused.
         */
        get: operations["getResponsesById"];
        put?: never;
        post?: never;
        /**
         * Have an upstream forget an answer
         * @description Of the query, `include` and `starting_after` go upstream; `stream` is refused.
         */
        delete: operations["deleteResponsesById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/generations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One image job */
        get: operations["getImagesGenerationsById"];
        put?: never;
        post?: never;
        /**
         * Cancel an image job
         * @description A job that has ended stays as it is.
         */
        delete: operations["deleteImagesGenerationsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/generations/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The whole job at once and after each change, until its end, as server-sent events
         * @description An event's name is the job's `status`, its data the job.
         */
        get: operations["getImagesGenerationsByIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/files/{day}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The bytes of an image, for anybody who has its link */
        get: operations["getImagesFilesByDayByName"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/webhook-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The secret that signs the webhooks of the caller's tenant
         * @description A key with `usage_scope: key` is refused: the secret is that of all keys of the tenant.
         */
        get: operations["getImagesWebhookSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/translate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a request would be in another format, and what would become of every field */
        post: operations["postTranslate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The models that this key may use, by id
         * @description In the shape of the Messages format, by pages, to clients that send `anthropic-version`. Other clients get the whole list, and their parameters are ignored.
         */
        get: operations["getModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One model, by its id or an alias
         * @description In the shape of the Messages format to clients that send `anthropic-version`.
         */
        get: operations["getModelsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The usage log, newest first */
        get: operations["getUsageRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One request, with its redacted body, attempts and the parts of its cost */
        get: operations["getUsageRequestsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Totals by day and model, newest day first */
        get: operations["getUsageSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What this key may still spend */
        get: operations["getUsageBudget"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants/{name}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Book a top-up or an adjustment, once for each id
         * @description 201; 200 when the very same entry was booked before.
         */
        post: operations["postAdminVTenantsByNameEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants/{name}/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a tenant has left */
        get: operations["getAdminVTenantsByNameBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far Postgres is behind this process, the journals on its disk, and the money that requests hold */
        get: operations["getAdminVLedger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/probes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The runs of probes, newest first */
        get: operations["getAdminVProbes"];
        put?: never;
        /**
         * Ask a channel what a model can do there
         * @description A worker makes some 40 small requests, one after the other. Its verdicts count from the next request on.
         */
        post: operations["postAdminVProbes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/probes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run of a probe, with what it found */
        get: operations["getAdminVProbesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/verdicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What probes and refusals of upstreams have proved about the offers */
        get: operations["getAdminVVerdicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/verdicts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Drop a verdict: all processes forget it within a second
         * @description A refusal is learnt again when the upstream refuses twice. A trait in gateway.yaml beats both.
         */
        delete: operations["deleteAdminVVerdictsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was changed, by whom, and from where */
        get: operations["getAdminVAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Requests, errors, tokens, cost and latency by anything, over any time */
        get: operations["getAdminVSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/summary/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same over time: one series for each of the highest */
        get: operations["getAdminVSummaryTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/alerts/episodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The episodes of alerts, open and closed, with the state of their webhooks */
        get: operations["getAdminVAlertsEpisodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/alerts/episodes/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Note that somebody knows of an episode
         * @description The first one stays. It changes nothing of the episode, which closes by itself.
         */
        post: operations["postAdminVAlertsEpisodesByIdAcknowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The rules of alerts */
        get: operations["getAdminVAlerts"];
        put?: never;
        /**
         * Make a rule
         * @description The answer has the secret that its webhooks are signed with, this time only.
         */
        post: operations["postAdminVAlerts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A rule */
        get: operations["getAdminVAlertsById"];
        put?: never;
        post?: never;
        /**
         * Delete a rule
         * @description Its episodes are closed, and stay in the list.
         */
        delete: operations["deleteAdminVAlertsById"];
        options?: never;
        head?: never;
        /**
         * Change a rule
         * @description A new webhook has a new secret, which the answer shows. A rule that is disabled closes its episodes.
         */
        patch: operations["patchAdminVAlertsById"];
        trace?: never;
    };
    "/admin/v1/alerts/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a new secret for the webhooks of a rule
         * @description For 24 hours webhooks are signed with the former one too.
         */
        post: operations["postAdminVAlertsByIdRotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/alerts/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test message to the webhook of a rule, once */
        post: operations["postAdminVAlertsByIdTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "image.generation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The end of an image job, for the address in `x-tollgate-webhook` of its request
         * @description Signed as the Standard Webhooks say. It may come twice: `webhook-id` is then the same.
         */
        post: operations["imageGenerationEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    alert: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An episode of an alert has opened or closed, for the webhook of its rule
         * @description Signed as the Standard Webhooks say, with the secret of the rule. It may come twice: `webhook-id` is then the same.
         */
        post: operations["alertChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Problem: {
            /** @description `urn:tollgate:problem:` and `code`. */
            type: string;
            /** @description The kind of problem, in a few words. */
            title: string;
            status: number;
            /** @description A word that software may act on. */
            code: string;
            /** @description What is wrong, and what to change. */
            detail: string;
            /** @description `urn:uuid:` and the `x-request-id`. */
            instance: string;
            /** @description The wrong fields. */
            errors?: {
                /** @description Where in the body: a JSON pointer as a URI fragment. */
                pointer: string;
                detail: string;
            }[];
        };
        AlertBudget: {
            /** @constant */
            kind: "budget";
            /**
             * @description The budgets of keys or of groups, or the balances of tenants.
             * @enum {string}
             */
            of: "key" | "group" | "tenant";
            /**
             * @description Of the key, group or tenant. Null: each that has one.
             * @default null
             */
            id: string | null;
            /** @description Of a budget. Holds from this share on. */
            spent_percent?: number;
            /** @description Holds while less is left of the budget, or on the account. */
            below_usd?: string;
        };
        AlertErrorRate: {
            /** @constant */
            kind: "error_rate";
            /**
             * @description Each of them is judged by itself. A request counts for the channel that it ended with.
             * @enum {string}
             */
            of: "channel" | "model" | "tenant";
            /**
             * @description Only the one of this name; null: each. A model is named as requested.
             * @default null
             */
            name: string | null;
            /** @default 5 */
            window_minutes: number;
            /**
             * @description With fewer requests in the window it does not hold.
             * @default 20
             */
            min_requests: number;
            /** @description Of the requests that failed; those that were refused are no failures. */
            above_percent: number;
        };
        AlertLatency: {
            /** @constant */
            kind: "latency";
            /**
             * @description Each of them is judged by itself. A request counts for the channel that it ended with.
             * @enum {string}
             */
            of: "channel" | "model" | "tenant";
            /**
             * @description Only the one of this name; null: each. A model is named as requested.
             * @default null
             */
            name: string | null;
            /** @default 5 */
            window_minutes: number;
            /**
             * @description With fewer requests in the window it does not hold.
             * @default 20
             */
            min_requests: number;
            /**
             * @default total
             * @enum {string}
             */
            metric: "total" | "first_token";
            /**
             * @default p95
             * @enum {string}
             */
            percentile: "p50" | "p95" | "p99";
            above_ms: number;
        };
        AlertLedgerLag: {
            /** @constant */
            kind: "ledger_lag";
            /**
             * @description Holds while rows of a process wait for Postgres for longer.
             * @default 60
             */
            older_than_seconds: number;
            /**
             * @description Holds also while frames of a journal are set aside.
             * @default true
             */
            set_aside: boolean;
        };
        AlertNewNetwork: {
            /** @constant */
            kind: "new_network";
            /**
             * @description Null: each key.
             * @default null
             */
            key_id: string | null;
            /**
             * @description Networks of the first days of a key are not new. 0: all but its first one are.
             * @default 7
             */
            learning_days: number;
        };
        AlertChannelDown: {
            /** @constant */
            kind: "channel_down";
            /**
             * @description Null: each channel.
             * @default null
             */
            channel: string | null;
            /**
             * @description Holds once the breaker has opened so many times in a row.
             * @default 1
             */
            openings: number;
        };
        AlertCondition: components["schemas"]["AlertBudget"] | components["schemas"]["AlertErrorRate"] | components["schemas"]["AlertLatency"] | components["schemas"]["AlertLedgerLag"] | components["schemas"]["AlertNewNetwork"] | components["schemas"]["AlertChannelDown"];
        AlertWebhook: {
            /** @enum {string} */
            type: "alert.opened" | "alert.closed" | "alert.test";
            /**
             * Format: date-time
             * @description When the episode opened or closed.
             */
            timestamp: string;
            data: {
                /** @description Null: a test. */
                episode_id: string | null;
                rule: {
                    /** Format: uuid */
                    id: string;
                    name: string;
                    /** @enum {string} */
                    kind: "budget" | "error_rate" | "latency" | "ledger_lag" | "new_network" | "channel_down";
                };
                /** @description The rule's; null: it is of the operators. */
                tenant_id: string | null;
                /** @description What it is about, such as `channel openai-eu`. */
                name: string;
                /** @description The message in plain words. */
                summary: string;
                /** @description The value that was compared, with its unit. */
                value: string | null;
                opened_at: string | null;
                closed_at: string | null;
                /** @description By the kind of the rule. */
                details: {
                    [key: string]: unknown;
                };
                /** @description The episode in the admin API; null: PUBLIC_URL is not set. */
                url: string | null;
            };
        };
        EntryRequest: {
            /** @description An entry is booked once for its id. Default: made of the Idempotency-Key. */
            id?: string;
            /**
             * @description A top-up brings money; an adjustment may take it as well.
             * @enum {string}
             */
            kind: "top_up" | "adjustment";
            /** @description USD, a decimal with at most 9 decimals. */
            amount_usd: string;
            note?: string | null;
        };
        TenantBalance: {
            tenant: string;
            /** @description Whether requests are admitted by reservation; else they are only recorded. */
            limited: boolean;
            /** @description USD, an exact decimal. */
            balance_usd: string;
            /** @description Nano-USD in decimal digits. */
            balance_nano_usd: string;
            /** @description USD, an exact decimal. */
            held_usd: string;
            /** @description Nano-USD that running requests hold. */
            held_nano_usd: string;
        };
        BookedEntry: {
            tenant: string;
            /** @description Whether requests are admitted by reservation; else they are only recorded. */
            limited: boolean;
            /** @description USD, an exact decimal. */
            balance_usd: string;
            /** @description Nano-USD in decimal digits. */
            balance_nano_usd: string;
            /** @description USD, an exact decimal. */
            held_usd: string;
            /** @description Nano-USD that running requests hold. */
            held_nano_usd: string;
            entry: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                kind: "top_up" | "adjustment";
                /** @description USD, an exact decimal. */
                amount_usd: string;
                /** @description Nano-USD in decimal digits. */
                amount_nano_usd: string;
                note: string | null;
                /** Format: date-time */
                created_at: string;
            };
        };
        AlertRequest: {
            name: string;
            condition: components["schemas"]["AlertCondition"];
            /** @default true */
            enabled: boolean;
            /**
             * @description An episode closes when the condition has not held for so long, so that a value that goes up and down makes one episode.
             * @default 300
             */
            resolve_after_seconds: number;
            /**
             * @description Where to POST when an episode opens and closes. Null: episodes are listed only.
             * @default null
             */
            webhook: {
                /** @description Write-only: an http:// or https:// URL of at most 2048 characters without credentials. */
                url: string;
            } | null;
            /**
             * @description The rule watches this tenant only, and its members see it. A member's rule is of its own.
             * @default null
             */
            tenant_id: string | null;
        };
        AlertChange: {
            name?: string;
            condition?: components["schemas"]["AlertCondition"];
            enabled?: boolean;
            /** @description An episode closes when the condition has not held for so long, so that a value that goes up and down makes one episode. */
            resolve_after_seconds?: number;
            /** @description Where to POST when an episode opens and closes. Null: episodes are listed only. */
            webhook?: {
                /** @description Write-only: an http:// or https:// URL of at most 2048 characters without credentials. */
                url: string;
            } | null;
        };
        AlertRule: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            kind: "budget" | "error_rate" | "latency" | "ledger_lag" | "new_network" | "channel_down";
            /** @description Null: of the operators, over all tenants. */
            tenant_id: string | null;
            condition: components["schemas"]["AlertCondition"];
            enabled: boolean;
            resolve_after_seconds: number;
            /** @description The rest of its address is not shown. */
            webhook: {
                host: string;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** @description Not a part of the ETag. */
            evaluated_at: string | null;
        };
        AlertRuleWithSecret: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            kind: "budget" | "error_rate" | "latency" | "ledger_lag" | "new_network" | "channel_down";
            /** @description Null: of the operators, over all tenants. */
            tenant_id: string | null;
            condition: components["schemas"]["AlertCondition"];
            enabled: boolean;
            resolve_after_seconds: number;
            /** @description The rest of its address is not shown. */
            webhook: {
                host: string;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** @description Not a part of the ETag. */
            evaluated_at: string | null;
            /** @description The secret that webhooks are signed with, as the Standard Webhooks have it. It is shown now only. */
            webhook_secret: string | null;
        };
        AlertTest: {
            delivered: boolean;
            /** @description Of the answer; null: there was none. */
            status: number | null;
            /** @description The begin of what the receiver said; null for a member of one tenant. */
            answer: string | null;
            problem: string | null;
        };
        AlertEpisode: {
            /** Format: uuid */
            id: string;
            rule: {
                /** Format: uuid */
                id: string;
                /** @description Its name then. */
                name: string;
                /** @enum {string} */
                kind: "budget" | "error_rate" | "latency" | "ledger_lag" | "new_network" | "channel_down";
            };
            /** @description The rule's. */
            tenant_id: string | null;
            /** @description What it is about, such as `channel openai-eu`. */
            name: string;
            /** @enum {string} */
            state: "open" | "closed";
            /** Format: date-time */
            opened_at: string;
            closed_at: string | null;
            /**
             * Format: date-time
             * @description When the condition was last seen to hold.
             */
            last_held_at: string;
            /** @description The message at its opening. */
            summary: string;
            /** @description The newest value that was compared, with its unit. */
            value: string;
            details: {
                [key: string]: unknown;
            };
            acknowledged: {
                /** Format: date-time */
                at: string;
                by: string;
            } | null;
            /** @description Its webhooks. None: the rule had no webhook. */
            deliveries: {
                /** @enum {string} */
                event: "opened" | "closed";
                summary: string;
                /** @enum {string} */
                state: "pending" | "delivered" | "failed";
                tries: number;
                /** @description Why the last try failed. */
                problem: string | null;
                /** Format: date-time */
                created_at: string;
            }[];
        };
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            actor: {
                /** @enum {string} */
                kind: "operator" | "user" | "token" | "file" | "system";
                id: string | null;
                /** @description Its name then. */
                name: string;
            };
            address: string | null;
            user_agent: string | null;
            /** @description `x-request-id` of the call. */
            request_id: string | null;
            /** @description Resource and verb, such as `key.rotate`. */
            action: string;
            resource: string;
            resource_id: string;
            /** @description Its name then. */
            resource_name: string | null;
            tenant_id: string | null;
            /** @description Without secrets; null: it was not there. */
            before: unknown;
            /** @description Without secrets; null: it is no more. */
            after: unknown;
        };
        LedgerState: {
            /**
             * @description As `/readyz` tells it: the last two are not ready.
             * @enum {string}
             */
            status: "ready" | "degraded" | "lagging" | "near_bound";
            /** @enum {string} */
            postgres: "reached" | "away";
            /** @description The part of the journal of this process that Postgres does not have. */
            unshipped: {
                /** @description Rows of which Postgres may not have the end yet. */
                rows: number;
                bytes: number;
                /** @description Age of the oldest part; 0: Postgres has all of it. */
                oldest_ms: number;
            };
            /** @description Whether Postgres takes the rows of other processes; null: no row waits for long, so nobody has asked. */
            others: ("moving" | "standing") | null;
            journal: {
                bytes: number;
                /** @description JOURNAL_BYTES_MAX. */
                bytes_max: number;
                /** @description Why it cannot be written; null: it can. */
                trouble: string | null;
            };
            /** @description The processes whose journals are in the folder of this process, itself included. */
            journals: string[];
            adoption: {
                /** @description The dead process whose journal is being shipped; null: none. */
                current: string | null;
                /** @description Journals that cannot be adopted now. */
                failed: {
                    instance: string;
                    reason: string;
                }[];
            };
            set_aside: {
                count: number;
                /** @description The first 100 of them, as `npm run ledger:inspect` names them. */
                ids: string[];
            };
            /** @description The money that requests hold, by age, over all processes; null: Postgres did not answer in two seconds. */
            holds: {
                ages: {
                    /** @description The bound of the age; null: it has none. */
                    under_seconds: number | null;
                    count: number;
                    /** @description Nano-USD in decimal digits. */
                    nano_usd: string;
                }[];
                /** @description False: there are more than the 100,000 that were counted. */
                complete: boolean;
            } | null;
        };
        ProbeRequest: {
            /** @description The name of a channel. */
            channel: string;
            /** @description A model that the channel offers, by the name that clients use. */
            model: string;
            /** @description The protocol in which the channel is asked. Default: each that it speaks, a run for each. */
            protocol?: string | null;
            /** @description The most that each run may cost. Default: PROBE_MICRO_USD_MAX. */
            cost_max_usd?: string | null;
        };
        ProbeRun: {
            /** Format: uuid */
            id: string;
            channel: string;
            model: string;
            upstream_model: string;
            protocol: string;
            /** @enum {string} */
            origin: "admin" | "schedule";
            /** @enum {string} */
            state: "queued" | "running" | "ended" | "failed";
            /** @description USD, an exact decimal. */
            cost_max_usd: string;
            /** @description What its requests cost so far; null: not known. */
            cost_usd: string | null;
            /** @description The key of its requests in the usage log; null: it has not begun. */
            key_id: string | null;
            /** @description Why it failed. */
            error: string | null;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            ended_at: string | null;
        };
        ProbeRunDetails: {
            /** Format: uuid */
            id: string;
            channel: string;
            model: string;
            upstream_model: string;
            protocol: string;
            /** @enum {string} */
            origin: "admin" | "schedule";
            /** @enum {string} */
            state: "queued" | "running" | "ended" | "failed";
            /** @description USD, an exact decimal. */
            cost_max_usd: string;
            /** @description What its requests cost so far; null: not known. */
            cost_usd: string | null;
            /** @description The key of its requests in the usage log; null: it has not begun. */
            key_id: string | null;
            /** @description Why it failed. */
            error: string | null;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            ended_at: string | null;
            /** @description What it found, check by check; null: not ended. */
            sections: {
                /** @enum {string} */
                id: "service" | "chat" | "responses" | "messages";
                title: string;
                served: boolean;
                checks: {
                    name: string;
                    must: boolean;
                    /** @enum {string} */
                    verdict: "ok" | "refused" | "ignored" | "broken" | "unknown";
                    detail: string;
                    calls: number;
                    ms: number;
                    request_ids: string[];
                }[];
            }[] | null;
        };
        SummarySums: {
            requests: number;
            succeeded: number;
            refused: number;
            failed: number;
            cancelled: number;
            orphaned: number;
            /** @description Refused, failed and orphaned. */
            errors: number;
            tokens: {
                input: number;
                cache_read: number;
                cache_write: number;
                output: number;
                reasoning: number;
            };
            images: number;
            /** @description Nano-USD in decimal digits, of the requests whose cost is known. */
            cost_nano_usd: string;
            /** @description Requests whose cost is not known. */
            unpriced_requests: number;
            latency_ms: {
                /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                total: {
                    count: number;
                    p50: number;
                    p95: number;
                    p99: number;
                } | null;
                /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                first_token: {
                    count: number;
                    p50: number;
                    p95: number;
                    p99: number;
                } | null;
            };
        };
        Summary: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description False: the time was widened to whole hours, because its ends have too many requests to read. */
            exact: boolean;
            /** @description Days of it that are not counted yet: the upkeep counts them in the minutes after an upgrade. */
            waiting_days: number;
            data: {
                /**
                 * Format: date-time
                 * @description The beginning of the minute, the hour or the day.
                 */
                at?: string;
                tenant_id?: string | null;
                key_id?: string | null;
                group_id?: string | null;
                /** @description As requested; null also where no such model was found. */
                model?: string | null;
                channel?: string | null;
                outcome?: string;
                requests: number;
                succeeded: number;
                refused: number;
                failed: number;
                cancelled: number;
                orphaned: number;
                /** @description Refused, failed and orphaned. */
                errors: number;
                tokens: {
                    input: number;
                    cache_read: number;
                    cache_write: number;
                    output: number;
                    reasoning: number;
                };
                images: number;
                /** @description Nano-USD in decimal digits, of the requests whose cost is known. */
                cost_nano_usd: string;
                /** @description Requests whose cost is not known. */
                unpriced_requests: number;
                latency_ms: {
                    /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                    total: {
                        count: number;
                        p50: number;
                        p95: number;
                        p99: number;
                    } | null;
                    /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                    first_token: {
                        count: number;
                        p50: number;
                        p95: number;
                        p99: number;
                    } | null;
                };
            }[];
            /** @description The groups behind this page together; null: there are none. */
            other: {
                groups: number;
                requests: number;
                succeeded: number;
                refused: number;
                failed: number;
                cancelled: number;
                orphaned: number;
                /** @description Refused, failed and orphaned. */
                errors: number;
                tokens: {
                    input: number;
                    cache_read: number;
                    cache_write: number;
                    output: number;
                    reasoning: number;
                };
                images: number;
                /** @description Nano-USD in decimal digits, of the requests whose cost is known. */
                cost_nano_usd: string;
                /** @description Requests whose cost is not known. */
                unpriced_requests: number;
                latency_ms: {
                    /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                    total: {
                        count: number;
                        p50: number;
                        p95: number;
                        p99: number;
                    } | null;
                    /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                    first_token: {
                        count: number;
                        p50: number;
                        p95: number;
                        p99: number;
                    } | null;
                };
            } | null;
            /** @description Of all groups. */
            total: components["schemas"]["SummarySums"];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        SummaryTimeline: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description False: the time was widened to whole hours, because its ends have too many requests to read. */
            exact: boolean;
            /** @description Days of it that are not counted yet: the upkeep counts them in the minutes after an upgrade. */
            waiting_days: number;
            /** @enum {string} */
            step: "minute" | "hour" | "day";
            series: {
                tenant_id?: string | null;
                key_id?: string | null;
                group_id?: string | null;
                /** @description As requested; null also where no such model was found. */
                model?: string | null;
                channel?: string | null;
                outcome?: string;
                /** @description True: all that have no series of their own, together. */
                other: boolean;
                /** @description In the order of time; steps without requests are left out. */
                points: {
                    /** Format: date-time */
                    at: string;
                    requests: number;
                    succeeded: number;
                    refused: number;
                    failed: number;
                    cancelled: number;
                    orphaned: number;
                    /** @description Refused, failed and orphaned. */
                    errors: number;
                    tokens: {
                        input: number;
                        cache_read: number;
                        cache_write: number;
                        output: number;
                        reasoning: number;
                    };
                    images: number;
                    /** @description Nano-USD in decimal digits, of the requests whose cost is known. */
                    cost_nano_usd: string;
                    /** @description Requests whose cost is not known. */
                    unpriced_requests: number;
                    latency_ms: {
                        /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                        total: {
                            count: number;
                            p50: number;
                            p95: number;
                            p99: number;
                        } | null;
                        /** @description Milliseconds, estimated from a histogram: wrong by less than 10 %. Null: nothing was measured. */
                        first_token: {
                            count: number;
                            p50: number;
                            p95: number;
                            p99: number;
                        } | null;
                    };
                }[];
            }[];
        };
        Verdict: {
            /** @description For DELETE. */
            id: string;
            channel: string;
            /** @description The upstream's name of it. */
            model: string;
            protocol: string;
            /** @description A probe's name, or the member of a request that the upstream refused. */
            subject: string;
            /** @enum {string} */
            origin: "probe" | "refusal";
            /**
             * @description `unknown` of a refusal: it came once, and does not count yet.
             * @enum {string}
             */
            verdict: "yes" | "no" | "unknown";
            /** @description False: it has expired, or nothing follows from it. */
            in_force: boolean;
            /** @description In the words of gateway.yaml. */
            traits: {
                [key: string]: unknown;
            } | null;
            /** @description The upstream's words, without secrets. */
            evidence: string;
            /** @description The newest last. */
            request_ids: string[];
            cost_usd: string | null;
            decided_at: string;
            /** @description Null: when it is replaced. */
            expires_at: string | null;
        };
        VerdictList: {
            data: components["schemas"]["Verdict"][];
            next_cursor: string | null;
        };
        DeletedVerdict: {
            id: string;
            /** @constant */
            deleted: true;
        };
        OpenaiError: {
            error: {
                /** @description What is wrong, and what to change. */
                message: string;
                type: string;
                /** @description The field that is wrong. */
                param: string | null;
                /** @description A word that software may act on. */
                code: string | null;
            };
        };
        MessagesError: {
            /** @constant */
            type: "error";
            error: {
                type: string;
                /** @description What is wrong, and what to change. */
                message: string;
                details?: {
                    error_code: string;
                };
            };
            request_id: string;
        };
        AnyError: components["schemas"]["OpenaiError"] | components["schemas"]["MessagesError"];
        ImageJob: {
            /**
             * Format: uuid
             * @description The `x-request-id` of the request that asked for it.
             */
            id: string;
            /** @constant */
            object: "image.generation";
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
            model: string;
            /** @description Images asked for. */
            n: number;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            /** @description The place among the tenant's waiting jobs, 1 being next; null when it does not wait. */
            position: number | null;
            attempts: {
                channel: string;
                status: number | null;
                error: {
                    kind: string;
                    message: string;
                } | null;
                total_ms: number | null;
            }[];
            latency_ms: {
                queue: number | null;
                total: number | null;
            };
            partial_images: {
                index: number;
                /** Format: uri */
                url: string;
            }[];
            result: {
                /** @description Seconds since the epoch. */
                created: number;
                data: {
                    /**
                     * Format: uri
                     * @description Good for a while; each reading of the job gives new ones.
                     */
                    url: string;
                    content_type: string;
                    bytes: number;
                    revised_prompt?: string;
                }[];
                size: string | null;
                quality: string | null;
                background: string | null;
                output_format: string | null;
                usage: {
                    input_tokens: number;
                    output_tokens: number;
                    total_tokens: number;
                } | null;
            } | null;
            error: {
                kind: string;
                message: string;
            } | null;
            /** @description Nano-USD in decimal digits; null where not known. */
            cost_nano_usd: string | null;
            /** @description Null without a webhook. */
            webhook: {
                /** @enum {string} */
                status: "pending" | "delivered" | "failed";
                tries: number;
            } | null;
        };
        ImageWebhook: {
            /** @description `image.generation.` and the job's `status`. */
            type: string;
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["ImageJob"];
        };
        Budget: {
            /** @description The tenant's; null where it has no limit, or where the key may only see its own usage. */
            balance: {
                /** @description USD, an exact decimal. */
                left_usd: string;
                /** @description Nano-USD that are not spent yet. */
                left_nano_usd: string;
                /** @description USD, an exact decimal. */
                held_usd: string;
                /** @description Nano-USD that running requests hold. */
                held_nano_usd: string;
                /** @description USD, an exact decimal. */
                free_usd: string;
                /** @description Nano-USD that are left and that no running request holds. */
                free_nano_usd: string;
            } | null;
            /** @description Of the key and of its group. */
            budgets: {
                /** @enum {string} */
                of: "key" | "group";
                /** @enum {string} */
                period: "day" | "month" | "total";
                /** @description USD, an exact decimal. */
                limit_usd: string;
                /** @description Nano-USD in decimal digits. */
                limit_nano_usd: string;
                /** @description USD, an exact decimal. */
                spent_usd: string;
                /** @description Nano-USD in decimal digits. */
                spent_nano_usd: string;
                /** @description USD, an exact decimal. */
                left_usd: string;
                /** @description Nano-USD that are not spent yet. */
                left_nano_usd: string;
                /** @description USD, an exact decimal. */
                held_usd: string;
                /** @description Nano-USD that running requests hold. */
                held_nano_usd: string;
                /** @description USD, an exact decimal. */
                free_usd: string;
                /** @description Nano-USD that are left and that no running request holds. */
                free_nano_usd: string;
                /** @description Null: never. */
                resets_at: string | null;
            }[];
        };
        ResponsesTokensRequest: {
            /** @description A model, as `GET /v1/models` lists them. */
            model: string;
            /** @description An earlier answer that counts too. */
            previous_response_id?: string | null;
        } & {
            [key: string]: unknown;
        };
        MessagesTokensRequest: {
            /** @description A model, as `GET /v1/models` lists them. */
            model: string;
        } & {
            [key: string]: unknown;
        };
        TokenCount: {
            /** @description Tokens that the request would have. */
            input_tokens: number;
        } & {
            [key: string]: unknown;
        };
        CostFact: {
            /** @description `cache_write_1h`, `audio_input`, `audio_output`, `web_searches`, `service_tier` or `model`. */
            part: string;
            /** @description Tokens, or searches. Tokens are a part of those in `tokens`. */
            count?: number;
            /** @description Of a service tier or a model, in the upstream's words. */
            name?: string;
            /** @description What another model used on the same answer. `tokens` of the row excludes them. */
            tokens?: {
                input: number;
                cache_read: number;
                cache_write: number;
                output: number;
                reasoning: number;
            };
            /** @description What that model cost; null where its price is not known. */
            cost_nano_usd?: string | null;
            /** @description The price of that model. */
            price_id?: string | null;
        } & {
            [key: string]: unknown;
        };
        TranslationNote: {
            /** @description The field in the client's body, or behind `answer.` the part of the upstream's answer. */
            path: string;
            /** @description `mapped`, `emulated`, `defaulted`, `clamped` or `dropped`. */
            action: string;
            reason: string;
        };
        UsageRow: {
            /**
             * Format: uuid
             * @description The request's id, which its response has as `x-request-id`.
             */
            id: string;
            /**
             * Format: date-time
             * @description The moment inside the id, to the millisecond.
             */
            created_at: string;
            /** @description The path that was called. */
            endpoint: string;
            /** @description The format that the client speaks. */
            client_protocol: string | null;
            /** @description The format in which the upstream was asked. */
            upstream_protocol: string | null;
            /** @description The model that the client asked for. */
            requested_model: string | null;
            /** @description The model that answered, in the upstream's words. */
            served_model: string | null;
            /** @description The channel that answered, or was asked last. */
            channel: string | null;
            /** @description Whether the client asked for a stream. */
            stream: boolean;
            /** @description The user that the client asks for: `user`, `safety_identifier` or `metadata.user_id`. */
            end_user: string | null;
            /** @description The conversation, or an agent's run, that the request belongs to. */
            session: string | null;
            /** @description The client's labels, from `x-tollgate-tags` and `metadata`. */
            tags: string[];
            /** @description The HTTP status of the answer; 499 where the client left before it. */
            status: number;
            /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
            outcome: string;
            error: {
                /** @description The kind of the error; without an error, `error` is null. */
                kind: string;
                /** @description The message that the client got. */
                message: string | null;
                /** @description The status that the upstream gave. */
                upstream_status: number | null;
            } | null;
            /** @description Why the answer ended, in the upstream's words. */
            finish_reason: string | null;
            tokens: {
                /** @description Input tokens at the full rate; where the usage is not known, `tokens` is null. */
                input: number;
                /** @description Input tokens that the vendor read from its cache. */
                cache_read: number;
                /** @description Input tokens that the vendor wrote to its cache. */
                cache_write: number;
                /** @description Output tokens, without reasoning. */
                output: number;
                /** @description Output tokens of reasoning. */
                reasoning: number;
            } | null;
            /** @description Images delivered, or only previewed by a job without result; else null. */
            images: number | null;
            /** @description Where the tokens come from: `upstream`, `partial`, `estimated` or `none`. */
            usage_source: string;
            /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
            stream_end: string | null;
            /** @description Nano-USD in decimal digits; null where the cost is not known. */
            cost_nano_usd: string | null;
            latency_ms: {
                /** @description From arrival to the first call upstream. */
                queue: number | null;
                /** @description From arrival to the first content of the answer. */
                first_token: number | null;
                /** @description From arrival to the end of the answer. */
                total: number | null;
            };
            /** @description Calls upstream; in the detail, the list of them. */
            attempts: number;
            /** @description What translation changed: a list of `{ path, action, reason }`. */
            notes: components["schemas"]["TranslationNote"][];
            /** @description The upstream's id of the last call. */
            upstream_request_id: string | null;
            /** @description How many requests the row stands for; more than 1 in a flood of refusals. */
            folded: number;
        };
        UsageDetail: {
            /**
             * Format: uuid
             * @description The request's id, which its response has as `x-request-id`.
             */
            id: string;
            /**
             * Format: date-time
             * @description The moment inside the id, to the millisecond.
             */
            created_at: string;
            /** @description The key that the request came with. */
            key_id: string | null;
            /** @description The path that was called. */
            endpoint: string;
            /** @description The format that the client speaks. */
            client_protocol: string | null;
            /** @description The format in which the upstream was asked. */
            upstream_protocol: string | null;
            /** @description The model that the client asked for. */
            requested_model: string | null;
            /** @description The model that answered, in the upstream's words. */
            served_model: string | null;
            /** @description The channel that answered, or was asked last. */
            channel: string | null;
            /** @description Whether the client asked for a stream. */
            stream: boolean;
            /** @description The user that the client asks for: `user`, `safety_identifier` or `metadata.user_id`. */
            end_user: string | null;
            /** @description The conversation, or an agent's run, that the request belongs to. */
            session: string | null;
            /** @description The client's labels, from `x-tollgate-tags` and `metadata`. */
            tags: string[];
            /** @description The HTTP status of the answer; 499 where the client left before it. */
            status: number;
            /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
            outcome: string;
            error: {
                /** @description The kind of the error; without an error, `error` is null. */
                kind: string;
                /** @description The message that the client got. */
                message: string | null;
                /** @description The status that the upstream gave. */
                upstream_status: number | null;
            } | null;
            /** @description Why the answer ended, in the upstream's words. */
            finish_reason: string | null;
            tokens: {
                /** @description Input tokens at the full rate; where the usage is not known, `tokens` is null. */
                input: number;
                /** @description Input tokens that the vendor read from its cache. */
                cache_read: number;
                /** @description Input tokens that the vendor wrote to its cache. */
                cache_write: number;
                /** @description Output tokens, without reasoning. */
                output: number;
                /** @description Output tokens of reasoning. */
                reasoning: number;
            } | null;
            /** @description Images delivered, or only previewed by a job without result; else null. */
            images: number | null;
            /** @description Where the tokens come from: `upstream`, `partial`, `estimated` or `none`. */
            usage_source: string;
            /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
            stream_end: string | null;
            /** @description Nano-USD in decimal digits; null where the cost is not known. */
            cost_nano_usd: string | null;
            latency_ms: {
                /** @description From arrival to the first call upstream. */
                queue: number | null;
                /** @description From arrival to the first content of the answer. */
                first_token: number | null;
                /** @description From arrival to the end of the answer. */
                total: number | null;
            };
            /** @description Calls upstream, and candidates that were passed over. */
            attempts: {
                /** @description The channel. */
                channel: string;
                /** @description The format in which it was asked. */
                upstream_protocol: string | null;
                /** @description The upstream's name of the model. */
                upstream_model: string | null;
                /** @description Why it was chosen, or passed over. */
                reason: string;
                /** @description True for a candidate that was not called. */
                passed_over: boolean;
                /** @description The upstream's status; null where it gave none. */
                status: number | null;
                error: {
                    /** @description The kind of the error; without an error, `error` is null. */
                    kind: string;
                    /** @description What the error says. */
                    message: string | null;
                } | null;
                latency_ms: {
                    /** @description From the call to the first byte of its answer. */
                    first_byte: number | null;
                    /** @description From the call to its end. */
                    total: number | null;
                };
                /** @description The upstream's id of the call. */
                upstream_request_id: string | null;
            }[];
            /** @description What translation changed: a list of `{ path, action, reason }`. */
            notes: components["schemas"]["TranslationNote"][];
            /** @description The upstream's id of the last call. */
            upstream_request_id: string | null;
            /** @description How many requests the row stands for; more than 1 in a flood of refusals. */
            folded: number;
            /** @description The client's address. */
            client_address: string | null;
            /** @description The client's `user-agent`. */
            user_agent: string | null;
            /** @description The request's `idempotency-key`. */
            idempotency_key: string | null;
            /** @description The multiplier of that price. */
            price_multiplier: string | null;
            /** @description Facts beside the tokens that the cost depends on: a list of `{ part, count }`, `{ part, name }` and models. */
            cost_facts: components["schemas"]["CostFact"][];
            /** @description Null where they are not what the row was charged. */
            cost_parts_nano_usd: {
                /** @description Nano-USD in decimal digits. */
                input: string;
                /** @description Nano-USD in decimal digits. */
                cache_read: string;
                /** @description Nano-USD in decimal digits. */
                cache_write: string;
                /** @description Nano-USD in decimal digits. */
                output: string;
                /** @description Nano-USD in decimal digits. */
                reasoning: string;
                /** @description Nano-USD in decimal digits. */
                image: string;
                /** @description Nano-USD of web searches, and the fee of the request. */
                fees: string;
                /** @description Nano-USD of other models that worked on the answer. */
                others: string;
            } | null;
            /** @description Where the price comes from: `catalog`, which the operator keeps, or a library. Null without a price. */
            price_source: string | null;
            /** @description What is kept of the body: `none`, `shape` or `content`. */
            capture: string | null;
            /** @description The redacted body. */
            body: string | null;
        };
        UsagePage: {
            data: components["schemas"]["UsageRow"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        UsageSummary: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            data: {
                /**
                 * Format: date
                 * @description In UTC.
                 */
                day: string;
                /** @description As requested. */
                model: string | null;
                requests: number;
                succeeded: number;
                failed: number;
                tokens: {
                    input: number;
                    cache_read: number;
                    cache_write: number;
                    output: number;
                    reasoning: number;
                };
                images: number;
                /** @description Of the requests whose cost is known. */
                cost_nano_usd: string;
                /** @description Requests whose cost is not known. */
                unpriced_requests: number;
            }[];
        };
        ImageJobPage: {
            data: components["schemas"]["ImageJob"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        WebhookSecret: {
            /** @description `whsec_` and base64, as the Standard Webhooks have it. */
            secret: string;
        };
        MessagesModel: {
            /** @constant */
            type: "model";
            id: string;
            display_name: string;
            /** Format: date-time */
            created_at: string;
            max_input_tokens: number | null;
            max_tokens: number | null;
        };
        MessagesModelList: {
            data: components["schemas"]["MessagesModel"][];
            has_more: boolean;
            first_id: string | null;
            last_id: string | null;
        };
        Model: {
            id: string;
            /** @constant */
            object: "model";
            /** @description Seconds since the epoch. */
            created: number;
            owned_by: string;
            aliases: string[];
            /** @description Where it is known to be served. */
            endpoints: string[];
            capabilities: {
                streaming: boolean;
                /** @description What it takes of image requests; null in each: any. */
                images: {
                    sizes: string[] | null;
                    qualities: string[] | null;
                    styles: string[] | null;
                    backgrounds: string[] | null;
                    output_formats: string[] | null;
                    /** @description Images of one request. */
                    images_max: number | null;
                    partial_images_max: number | null;
                    prompt_characters_max: number | null;
                } | null;
                /** @description Kinds of parts that it reads: text, image, document, audio, video. */
                input: string[] | null;
                /** @description Kinds of parts that it writes. */
                output: string[] | null;
                tools: boolean | null;
                parallel_tools: boolean | null;
                strict_tools: boolean | null;
                /** @description It answers by a JSON Schema. */
                structured_output: boolean | null;
                /** @description It answers with any JSON object. */
                json_mode: boolean | null;
                reasoning: boolean | null;
                /** @description The efforts that it takes, the least first. */
                reasoning_efforts: string[] | null;
                web_search: boolean | null;
                /** @description It caches prompts. */
                caching: boolean | null;
                /** @description It goes on with an assistant turn. */
                prefill: boolean | null;
            };
            context_length: number | null;
            max_output_tokens: number | null;
            pricing: {
                input: string | null;
                output: string | null;
                cache_read: string | null;
                cache_write: string | null;
                /** @description Of tokens that a vendor keeps for an hour. */
                cache_write_1h: string | null;
                reasoning: string | null;
                audio_input: string | null;
                audio_output: string | null;
                /** @description Per search. */
                web_search: string | null;
                /** @description Per request; null: no fee. */
                request: string | null;
                /** @description Per image. */
                image: string | null;
                /** @description Per image of one size or quality; null: of any. */
                images: {
                    size: string | null;
                    quality: string | null;
                    usd: string | null;
                }[];
                /** @description Other prices of whole requests that meet the conditions; of several, the last one counts. */
                tiers: {
                    /** @description More input tokens than this, cached ones included. */
                    above_input_tokens: number | null;
                    service_tier: string | null;
                    since: string | null;
                    /** @description Seconds since midnight UTC. */
                    daily_from: number | null;
                    /** @description Seconds since midnight UTC. */
                    daily_to: number | null;
                    input: string | null;
                    output: string | null;
                    cache_read: string | null;
                    cache_write: string | null;
                    /** @description Of tokens that a vendor keeps for an hour. */
                    cache_write_1h: string | null;
                    reasoning: string | null;
                    audio_input: string | null;
                    audio_output: string | null;
                    /** @description Per search. */
                    web_search: string | null;
                    /** @description Per request; null: no fee. */
                    request: string | null;
                }[];
                /** @description Where it comes from: `catalog`, which the operator keeps, or a library and its version. */
                source: string;
            } | null;
        };
        ModelList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Model"][];
        };
        AnyModelList: components["schemas"]["ModelList"] | components["schemas"]["MessagesModelList"];
        AnyModel: components["schemas"]["Model"] | components["schemas"]["MessagesModel"];
        /** @description The upstream's own answer, as it came. */
        UpstreamAnswer: {
            [key: string]: unknown;
        };
        TranslationRequest: {
            /**
             * @description The format of `request`.
             * @enum {string}
             */
            from: "openai-chat" | "openai-responses" | "anthropic-messages";
            /**
             * @description The format to translate to.
             * @enum {string}
             */
            to: "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini";
            /** @description The upstream's name of the model. Default: that of `request`. */
            model?: string | null;
            /** @description The vendor of the model. Default: that of the channel that serves `request.model` in `to`. */
            vendor?: ("openai" | "anthropic" | "gemini" | "mistral" | "deepseek" | "qwen" | "xai" | "moonshot" | "zai" | "minimax" | "cohere" | "azure-openai" | "bedrock" | "groq" | "cerebras" | "together" | "fireworks" | "nvidia" | "huggingface" | "openrouter" | "litellm" | "vllm" | "ollama" | "lmstudio" | "llamacpp") | null;
            /** @description Refuse what would be dropped. */
            strict?: boolean | null;
            /** @description The body of a request in the format `from`. */
            request: {
                [key: string]: unknown;
            };
        };
        Translation: {
            /** @description The upstream's path, below its base URL. */
            path: string;
            /** @description What would be sent. */
            body: {
                [key: string]: unknown;
            };
            /** @description What is known of the model, in the words of gateway.yaml. */
            traits: {
                [key: string]: unknown;
            };
            /** @description What became of every field that could not be passed on as it is. */
            notes: components["schemas"]["TranslationNote"][];
        };
        ProbeRuns: {
            data: components["schemas"]["ProbeRun"][];
        };
        ProbeRunList: {
            data: components["schemas"]["ProbeRun"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AuditList: {
            data: components["schemas"]["AuditEntry"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AlertEpisodeList: {
            data: components["schemas"]["AlertEpisode"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AlertRuleList: {
            data: components["schemas"]["AlertRule"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        DeletedAlertRule: {
            /** Format: uuid */
            id: string;
            /** @constant */
            deleted: true;
        };
    };
    responses: {
        /** @description Refused or failed. */
        OpenaiError: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                "retry-after": components["headers"]["retry-after"];
                "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenaiError"];
            };
        };
        /** @description Refused or failed. */
        MessagesError: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                "retry-after": components["headers"]["retry-after"];
                "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["MessagesError"];
            };
        };
        /** @description Refused or failed. */
        AnyError: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                "retry-after": components["headers"]["retry-after"];
                "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnyError"];
            };
        };
        /** @description Refused or failed. */
        Problem: {
            headers: {
                "x-request-id": components["headers"]["x-request-id"];
                "retry-after": components["headers"]["retry-after"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
        "idempotency-key": string;
        /** @description Change the resource only if it still has this ETag; else the answer is 412. */
        "if-match": string;
        /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
        "if-none-match": string;
    };
    requestBodies: never;
    headers: {
        /** @description The request's id, as the usage log has it. */
        "x-request-id": string;
        /** @description After how many seconds the same request may succeed. */
        "retry-after": string;
        /** @description Where the requests per minute are limited: how many are allowed. */
        "x-ratelimit-limit-requests": string;
        /** @description How many requests are left of them. */
        "x-ratelimit-remaining-requests": string;
        /** @description When all are left again, such as `1.2s` or `1m2s`. */
        "x-ratelimit-reset-requests": string;
        /** @description Where the tokens per minute are limited: how many are allowed. */
        "x-ratelimit-limit-tokens": string;
        /** @description How many tokens are left of them. */
        "x-ratelimit-remaining-tokens": string;
        /** @description When all are left again, such as `1.2s` or `1m2s`. */
        "x-ratelimit-reset-tokens": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    postChatCompletions: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer, or its events where `stream` is true. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    postResponses: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer, or its events where `stream` is true. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    postMessages: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer, or its events where `stream` is true. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["MessagesError"];
        };
    };
    postEmbeddings: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postModerations: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postCompletions: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer, or its events where `stream` is true. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "text/event-stream": string;
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getImagesGenerations: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                status?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                /** @description Jobs on a page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Image jobs, newest first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageJobPage"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    postImagesGenerations: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The answer, or its events where `stream` is true. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "text/event-stream": string;
                };
            };
            /** @description The job goes on. While the database is away, only `id`, `object`, `status` and `model` are known. */
            202: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "retry-after": components["headers"]["retry-after"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageJob"] | Record<string, never>;
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    postResponsesInputTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResponsesTokensRequest"];
            };
        };
        responses: {
            /** @description How many tokens a request would have */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCount"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    postMessagesCountTokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessagesTokensRequest"];
            };
        };
        responses: {
            /** @description How many tokens a request would have */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCount"];
                };
            };
            default: components["responses"]["MessagesError"];
        };
    };
    getResponsesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An answer that an upstream keeps */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpstreamAnswer"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    deleteResponsesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Have an upstream forget an answer */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpstreamAnswer"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    getImagesGenerationsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job: the `x-request-id` of its request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One image job */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageJob"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    deleteImagesGenerationsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job: the `x-request-id` of its request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel an image job */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageJob"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    getImagesGenerationsByIdEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the job: the `x-request-id` of its request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole job at once and after each change, until its end, as server-sent events */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ImageJob"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    getImagesFilesByDayByName: {
        parameters: {
            query?: {
                /** @description Seconds since the epoch. */
                expires?: string;
                signature?: string;
            };
            header?: never;
            path: {
                day: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes of an image, for anybody who has its link */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "image/*": unknown;
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    getImagesWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret that signs the webhooks of the caller's tenant */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSecret"];
                };
            };
            default: components["responses"]["OpenaiError"];
        };
    };
    postTranslate: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TranslationRequest"];
            };
        };
        responses: {
            /** @description What a request would be in another format, and what would become of every field */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Translation"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getModels: {
        parameters: {
            query?: {
                limit?: number;
                /** @description Models after this one. */
                after_id?: string;
                /** @description Models before this one: the page that ends there. */
                before_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models that this key may use, by id */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnyModelList"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getModelsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Ids and aliases may have slashes. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One model, by its id or an alias */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnyModel"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getUsageRequests: {
        parameters: {
            query?: {
                /** @description Requests from this moment on. */
                from?: string;
                /** @description Requests before this moment; a day is meant to its end. */
                to?: string;
                /** @description As requested or as served. */
                model?: string;
                /** @description A status such as `429`, or a class such as `4xx`. */
                status?: string;
                outcome?: "succeeded" | "refused" | "failed" | "cancelled" | "orphaned";
                /** @description The path that was called. */
                endpoint?: string;
                request_id?: string;
                /** @description The user that the client named. */
                end_user?: string;
                /** @description The conversation, or run of an agent. */
                session?: string;
                /** @description A tag; several: all of them. */
                tag?: string[];
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows on a page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage log, newest first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsagePage"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getUsageRequestsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `x-request-id` of its response. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One request, with its redacted body, attempts and the parts of its cost */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageDetail"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getUsageSummary: {
        parameters: {
            query?: {
                /** @description Default: 30 days before `to`. At most 92 days before it. */
                from?: string;
                /** @description Default: now. A day is meant to its end. */
                to?: string;
                /** @description As requested or as served. */
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Totals by day and model, newest day first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageSummary"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getUsageBudget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What this key may still spend */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    "x-ratelimit-limit-requests": components["headers"]["x-ratelimit-limit-requests"];
                    "x-ratelimit-remaining-requests": components["headers"]["x-ratelimit-remaining-requests"];
                    "x-ratelimit-reset-requests": components["headers"]["x-ratelimit-reset-requests"];
                    "x-ratelimit-limit-tokens": components["headers"]["x-ratelimit-limit-tokens"];
                    "x-ratelimit-remaining-tokens": components["headers"]["x-ratelimit-remaining-tokens"];
                    "x-ratelimit-reset-tokens": components["headers"]["x-ratelimit-reset-tokens"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postAdminVTenantsByNameEntries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The tenant's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntryRequest"];
            };
        };
        responses: {
            /** @description Book a top-up or an adjustment, once for each id */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BookedEntry"];
                };
            };
            /** @description Book a top-up or an adjustment, once for each id */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BookedEntry"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVTenantsByNameBalance: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description The tenant's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a tenant has left */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantBalance"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVLedger: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How far Postgres is behind this process, the journals on its disk, and the money that requests hold */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LedgerState"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVProbes: {
        parameters: {
            query?: {
                channel?: string;
                model?: string;
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The runs of probes, newest first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProbeRunList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVProbes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProbeRequest"];
            };
        };
        responses: {
            /** @description Ask a channel what a model can do there */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProbeRuns"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVProbesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A run of a probe, with what it found */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProbeRunDetails"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVVerdicts: {
        parameters: {
            query?: {
                /** @description Only those of this channel. */
                channel?: string;
                /** @description Only those of this model, by the upstream's name. */
                model?: string;
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What probes and refusals of upstreams have proved about the offers */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerdictList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVVerdictsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `id` of the list. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Drop a verdict: all processes forget it within a second */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedVerdict"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVAudit: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at";
                action?: string;
                resource?: string;
                resource_id?: string;
                tenant_id?: string;
                user_id?: string;
                from?: string;
                to?: string;
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was changed, by whom, and from where */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVSummary: {
        parameters: {
            query?: {
                /** @description Default: 24 hours before `to`. */
                from?: string;
                /** @description Default: the end of this hour. A day is meant to its end. */
                to?: string;
                tenant_id?: string;
                key_id?: string;
                group_id?: string;
                /** @description As requested. */
                model?: string;
                channel?: string;
                outcome?: "succeeded" | "refused" | "failed" | "cancelled" | "orphaned";
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-requests" | "requests" | "-errors" | "errors" | "-cost" | "cost" | "-tokens" | "tokens" | "-latency" | "latency";
                /** @description Any of tenant, key, group, model, channel and outcome, and one of minute, hour and day, with commas. */
                group_by?: string;
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Requests, errors, tokens, cost and latency by anything, over any time */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Summary"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVSummaryTimeline: {
        parameters: {
            query?: {
                /** @description Default: 24 hours before `to`. */
                from?: string;
                /** @description Default: the end of this hour. A day is meant to its end. */
                to?: string;
                tenant_id?: string;
                key_id?: string;
                group_id?: string;
                /** @description As requested. */
                model?: string;
                channel?: string;
                outcome?: "succeeded" | "refused" | "failed" | "cancelled" | "orphaned";
                /** @description Default: hours up to 8 days, then days. */
                step?: "minute" | "hour" | "day";
                /** @description One series for each of the highest, and one for the others. */
                by?: "tenant" | "key" | "group" | "model" | "channel" | "outcome";
                /** @description Series, without that of the others. */
                top?: number;
                /** @description What the highest are. */
                sort?: "-requests" | "-errors" | "-cost" | "-tokens" | "-latency";
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same over time: one series for each of the highest */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryTimeline"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVAlertsEpisodes: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-opened_at" | "opened_at";
                /** @description Only this one. */
                id?: string;
                rule_id?: string;
                kind?: "budget" | "error_rate" | "latency" | "ledger_lag" | "new_network" | "channel_down";
                /** @description Of the rule. */
                tenant_id?: string;
                open?: "true" | "false";
                acknowledged?: "true" | "false";
                /** @description Of the opening. */
                from?: string;
                to?: string;
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The episodes of alerts, open and closed, with the state of their webhooks */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertEpisodeList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVAlertsEpisodesByIdAcknowledge: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Note that somebody knows of an episode */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertEpisode"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVAlerts: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at" | "name" | "-name";
                kind?: "budget" | "error_rate" | "latency" | "ledger_lag" | "new_network" | "channel_down";
                tenant_id?: string;
                enabled?: "true" | "false";
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules of alerts */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVAlerts: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRequest"];
            };
        };
        responses: {
            /** @description Make a rule */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleWithSecret"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVAlertsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A rule */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVAlertsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a rule */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedAlertRule"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVAlertsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertChange"];
            };
        };
        responses: {
            /** @description Change a rule */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleWithSecret"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVAlertsByIdRotateSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Make a new secret for the webhooks of a rule */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRuleWithSecret"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVAlertsByIdTest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Send a test message to the webhook of a rule, once */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertTest"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    imageGenerationEnded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImageWebhook"];
            };
        };
        responses: {
            /** @description Nobody is to be told any more: it is not tried again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Anything else is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    alertChanged: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertWebhook"];
            };
        };
        responses: {
            /** @description Nobody is to be told any more: it is not tried again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Taken. Anything else is tried again later. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
