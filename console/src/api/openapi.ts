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
    "/v1/responses/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compaction of a conversation
         * @description In the vendor's format. A channel that speaks it gets the request unchanged but for the model's name; for any other the request is translated.
         */
        post: operations["postResponsesCompact"];
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
         * An answer that the gateway or an upstream keeps
         * @description With `stream=true`, the events of an answer in the background, from the one after `starting_after` on, while they come; other answers are only given whole. Of the query, `include` and `starting_after` go upstream.
         */
        get: operations["getResponsesById"];
        put?: never;
        post?: never;
        /**
         * Have the gateway or an upstream forget an answer
         * @description Answers that continue one which the gateway kept cannot be continued any more.
         */
        delete: operations["deleteResponsesById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an answer that is made in the background
         * @description Answers with it as it is then. One that has ended stays as it is.
         */
        post: operations["postResponsesByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{id}/input_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The items of the conversation before a kept answer
         * @description The newest first. `limit`: 1 to 100, default 20; `order`: `desc` or `asc`; `after`: an id.
         */
        get: operations["getResponsesByIdInputItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a conversation
         * @description For keys whose group, or who themselves, keep answers. Requests name it in `conversation`; each adds its items and those of its answer.
         */
        post: operations["postConversations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A conversation */
        get: operations["getConversationsById"];
        put?: never;
        /** Change the metadata of a conversation */
        post: operations["postConversationsById"];
        /**
         * Delete a conversation with its items
         * @description Answers of its requests cannot be continued by their ids any more.
         */
        delete: operations["deleteConversationsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The items of a conversation */
        get: operations["getConversationsByIdItems"];
        put?: never;
        /**
         * Add items to a conversation
         * @description Refused with `conversation_locked` while a request runs in it.
         */
        post: operations["postConversationsByIdItems"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/conversations/{id}/items/{item_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An item of a conversation */
        get: operations["getConversationsByIdItemsByItemId"];
        put?: never;
        post?: never;
        /**
         * Delete an item of a conversation
         * @description Answers with the conversation.
         */
        delete: operations["deleteConversationsByIdItemsByItemId"];
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
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The files of the tenant, or of the key */
        get: operations["getFiles"];
        put?: never;
        /**
         * Upload a file
         * @description Requests name it by its id, where their format has a place for that. It is kept for FILE_DAYS, or for fewer days by `expires_after`.
         */
        post: operations["postFiles"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One file, without its bytes */
        get: operations["getFilesById"];
        put?: never;
        post?: never;
        /**
         * Delete a file
         * @description A request that reads it already reads it to its end.
         */
        delete: operations["deleteFilesById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The bytes of a file */
        get: operations["getFilesByIdContent"];
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
        /**
         * The usage log, newest first
         * @description A search by filters without an index answers what it has found so far: a page may have few rows, or none, and a cursor for the rest.
         */
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
    "/v1/usage/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The usage log as CSV or NDJSON
         * @description Sent while it is read, newest first. It has at most EXPORT_ROWS_MAX rows: the trailer `x-tollgate-cut` says whether more matched. A connection that is cut says that the file is not whole.
         */
        get: operations["getUsageExport"];
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
    "/v1/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What this key may, and what is left of its limits
         * @description It takes one request from the limits that it shows.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sub-keys of this key, the newest first */
        get: operations["getKeys"];
        put?: never;
        /**
         * Make a sub-key: it may do no more than this key
         * @description What it spends and uses counts against this key's budgets and limits too.
         */
        post: operations["postKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a sub-key: every process refuses it within a second */
        delete: operations["deleteKeysById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/public/v1/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The models and prices of the groups that are public
         * @description For everybody, without a key. Without groups while none is public.
         */
        get: operations["getPublicVCatalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tenants */
        get: operations["getAdminVTenants"];
        put?: never;
        /**
         * Make a tenant
         * @description With `balance_usd`, even of 0, it can spend its balance only. Its keys are made at `/admin/v1/keys`.
         */
        post: operations["postAdminVTenants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A tenant */
        get: operations["getAdminVTenantsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a tenant
         * @description What is absent stays, null brings a default back. `balance_usd` limits an account that is not limited, and is then its balance; null lifts the limit. Entries change the balance of a limited one.
         */
        patch: operations["patchAdminVTenantsById"];
        trace?: never;
    };
    "/admin/v1/tenants/{id}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The movements of a tenant's money
         * @description Without `charges` and `kind` those that a request has made are left out.
         */
        get: operations["getAdminVTenantsByIdEntries"];
        put?: never;
        /**
         * Book a top-up or an adjustment, once for each id
         * @description 201; 200 when the very same entry was booked before.
         */
        post: operations["postAdminVTenantsByIdEntries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants/{id}/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a tenant has left */
        get: operations["getAdminVTenantsByIdBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Groups */
        get: operations["getAdminVGroups"];
        put?: never;
        /** Make a group */
        post: operations["postAdminVGroups"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A group */
        get: operations["getAdminVGroupsById"];
        put?: never;
        post?: never;
        /** Delete a group that no key is in */
        delete: operations["deleteAdminVGroupsById"];
        options?: never;
        head?: never;
        /**
         * Change a group
         * @description What is absent stays, null brings a default back.
         */
        patch: operations["patchAdminVGroupsById"];
        trace?: never;
    };
    "/admin/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Keys */
        get: operations["getAdminVKeys"];
        put?: never;
        /**
         * Make a key
         * @description The answer has its secret, this once. A repeat with the same Idempotency-Key shows it again.
         */
        post: operations["postAdminVKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A key */
        get: operations["getAdminVKeysById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a key
         * @description What is absent stays, null brings a default back. A revoked key can get another name only.
         */
        patch: operations["patchAdminVKeysById"];
        trace?: never;
    };
    "/admin/v1/keys/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a key with the secret that it has elsewhere
         * @description For keys of another gateway, whose clients keep their secrets.
         */
        post: operations["postAdminVKeysImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a key a new secret
         * @description The answer has the new secret, this once. The former one works for `grace_seconds` more. While it does, a second rotation needs `grace_seconds` 0, which ends both of the earlier ones.
         */
        post: operations["postAdminVKeysByIdRotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refuse a key for ever
         * @description The usage log goes on to name it. `disabled` refuses a key for a while.
         */
        post: operations["postAdminVKeysByIdRevoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/keys/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is left of the limits and budgets of a key */
        get: operations["getAdminVKeysByIdUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The channels */
        get: operations["getAdminVChannels"];
        put?: never;
        /**
         * Make a channel
         * @description The body has the words of an entry of `channels` in gateway.yaml. Requests are served by it within a second.
         */
        post: operations["postAdminVChannels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A channel */
        get: operations["getAdminVChannelsById"];
        put?: never;
        post?: never;
        /**
         * Delete a channel: it is disabled, and its credentials and offers are erased
         * @description The usage log keeps its requests under its name. A new channel may have the name.
         */
        delete: operations["deleteAdminVChannelsById"];
        options?: never;
        head?: never;
        /**
         * Change a channel
         * @description A JSON merge patch (RFC 7396) of its settings in the words of gateway.yaml: an absent one stays, null is its default.
         */
        patch: operations["patchAdminVChannelsById"];
        trace?: never;
    };
    "/admin/v1/channels/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enable a channel */
        post: operations["postAdminVChannelsByIdEnable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disable a channel: it gets no requests, and keeps its settings */
        post: operations["postAdminVChannelsByIdDisable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The credentials of a channel, by their last four characters */
        get: operations["getAdminVChannelsByIdCredentials"];
        put?: never;
        /** Add a credential */
        post: operations["postAdminVChannelsByIdCredentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/credentials/{credential}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Replace a credential: the new one has its place in the order */
        put: operations["putAdminVChannelsByIdCredentialsByCredential"];
        post?: never;
        /** Remove a credential */
        delete: operations["deleteAdminVChannelsByIdCredentialsByCredential"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/upstream-models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The models that the upstream of a channel-to-be lists
         * @description The body is that of a new channel; `name` and `models` may be absent. It reads a list, with the first of `api_keys`, and saves nothing. Bounds: MODEL_LIST_MS, MODEL_LIST_BYTES_MAX.
         */
        post: operations["postAdminVChannelsUpstreamModels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/upstream-models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The models that the upstream of a channel lists
         * @description The channel may be disabled. It reads a list, with the first of `api_keys`, and saves nothing. Bounds: MODEL_LIST_MS, MODEL_LIST_BYTES_MAX.
         */
        post: operations["postAdminVChannelsByIdUpstreamModels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a channel one small thing now
         * @description A real request for at most 16 tokens in each protocol of text, within a minute. The channel may be disabled. No tenant pays for it.
         */
        post: operations["postAdminVChannelsByIdTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The models */
        get: operations["getAdminVModels"];
        put?: never;
        /**
         * Make a model
         * @description The body has the words of an entry of `models` in gateway.yaml. Channels offer it when they name it.
         */
        post: operations["postAdminVModels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A model, with its price in force */
        get: operations["getAdminVModelsById"];
        put?: never;
        post?: never;
        /** Delete a model that nothing names: it is disabled, as one that leaves gateway.yaml */
        delete: operations["deleteAdminVModelsById"];
        options?: never;
        head?: never;
        /**
         * Change a model
         * @description A JSON merge patch (RFC 7396) of its settings in the words of gateway.yaml: an absent one stays, null is its default. Another price is a new version.
         */
        patch: operations["patchAdminVModelsById"];
        trace?: never;
    };
    "/admin/v1/models/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enable a model */
        post: operations["postAdminVModelsByIdEnable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disable a model: nobody can ask for it, and it keeps its settings */
        post: operations["postAdminVModelsByIdDisable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/models/{id}/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The versions of a model's price */
        get: operations["getAdminVModelsByIdPrices"];
        put?: never;
        /**
         * Set a new price
         * @description It is in force within a second, for requests that begin then. Former versions stay.
         */
        post: operations["postAdminVModelsByIdPrices"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The offers: model by channel, with traits, prices and verdicts */
        get: operations["getAdminVOffers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/offers/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Offer a model on a channel, or change its offer */
        put: operations["putAdminVChannelsByIdOffersByModel"];
        post?: never;
        /** Take a model off a channel */
        delete: operations["deleteAdminVChannelsByIdOffersByModel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The models of a channel */
        get: operations["getAdminVChannelsByIdOffers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/image-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Image jobs, newest first */
        get: operations["getAdminVImageJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/image-jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An image job */
        get: operations["getAdminVImageJobsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/image-jobs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an image job
         * @description One that has ended stays as it is. One that runs ends as soon as its worker sees it.
         */
        post: operations["postAdminVImageJobsByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/background-answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers that are made in the background, newest first */
        get: operations["getAdminVBackgroundAnswers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/background-answers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An answer that is made in the background */
        get: operations["getAdminVBackgroundAnswersById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/background-answers/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an answer that is made in the background
         * @description One that has ended stays as it is.
         */
        post: operations["postAdminVBackgroundAnswersByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Files that clients have uploaded, newest first */
        get: operations["getAdminVFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a file */
        delete: operations["deleteAdminVFilesById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants/{id}/kept-answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers that are kept for a tenant, newest first, without their content */
        get: operations["getAdminVTenantsByIdKeptAnswers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tenants/{id}/kept-answers/{answer}": {
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
         * Delete a kept answer
         * @description Answers that continue it cannot be continued any more.
         */
        delete: operations["deleteAdminVTenantsByIdKeptAnswersByAnswer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is anything wrong?
         * @description It answers when Postgres or the queue does not, and says so.
         */
        get: operations["getAdminVHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/channels/{id}/breaker/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a channel's breaker in all processes
         * @description The channel gets requests again at once. It opens again when they fail.
         */
        post: operations["postAdminVChannelsByIdBreakerReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All settings and bounds, without secrets */
        get: operations["getAdminVSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change what can be changed while the gateway runs */
        patch: operations["patchAdminVSettings"];
        trace?: never;
    };
    "/admin/v1/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The state of the gateway as a gateway.yaml, without secrets
         * @description Secrets are names of variables, which the head of the file lists.
         */
        get: operations["getAdminVExport"];
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
    "/admin/v1/ledger/verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The verification of the ledger that runs, or the last one */
        get: operations["getAdminVLedgerVerification"];
        put?: never;
        /**
         * Verify the ledger
         * @description Recomputes every sum from its parts, as `tollgate ledger verify` does. It changes nothing of the ledger, and has one connection of its own. 409 while one runs.
         */
        post: operations["postAdminVLedgerVerification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/ledger/verification/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the verification that runs
         * @description The process that runs it ends it, with its statement, within a few seconds. 409 while none runs.
         */
        post: operations["postAdminVLedgerVerificationCancel"];
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
    "/admin/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The usage log, by any of its columns
         * @description Any number of filters together; several values of one: any of them; an empty one: rows without a value. `not_` before its name turns a filter round. A long search answers what it has found so far, with `progress`, and a cursor for the rest.
         */
        get: operations["getAdminVRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/histogram": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many requests match, by time and outcome */
        get: operations["getAdminVRequestsHistogram"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The errors that match, by kind, endpoint, channel and status of the upstream
         * @description The filters of the list. A member of one tenant gets groups by kind and endpoint alone.
         */
        get: operations["getAdminVRequestsErrors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The requests that match, as CSV, NDJSON or Parquet
         * @description Sent while it is read, newest first. It has at most EXPORT_ROWS_MAX rows: the trailer `x-tollgate-cut` says whether more matched. A connection that is cut says that the file is not whole.
         */
        get: operations["getAdminVRequestsExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/tail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * New rows of the usage log, as they come
         * @description Server-sent events. `row`: a row as in the list. `dropped`: so many rows were left out, because there were more than 200 a second, or because the client reads slowly. `place`: sent behind the rows of a moment; its id, sent back as `last-event-id`, continues behind them. `end`: the process ends; connect again.
         */
        get: operations["getAdminVRequestsTail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One request with body, attempts, entries, and the command that sends it again */
        get: operations["getAdminVRequestsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/requests/{id}/translation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What would be sent upstream today for the kept body of a request */
        get: operations["getAdminVRequestsByIdTranslation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/playground": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a request under a key, and see what the client and the channel get
         * @description A real request: it has a row, takes from the key's limits, and its cost is charged. Server-sent events, without secrets: `client.start`, `client.data`, `client.end` are what the client would get; `upstream.request`, `upstream.start`, `upstream.data`, `upstream.end` are each call to a channel, which members do not see; `end` has the id of the row.
         */
        post: operations["postAdminVPlayground"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your saved views, and those that others share with you */
        get: operations["getAdminVViews"];
        put?: never;
        /** Save a view */
        post: operations["postAdminVViews"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/views/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A saved view */
        get: operations["getAdminVViewsById"];
        put?: never;
        post?: never;
        /**
         * Delete a saved view of yours
         * @description Answers with the view as it was.
         */
        delete: operations["deleteAdminVViewsById"];
        options?: never;
        head?: never;
        /** Change a saved view of yours */
        patch: operations["patchAdminVViewsById"];
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
    "/admin/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who calls, and what the caller may do */
        get: operations["getAdminVSession"];
        put?: never;
        /**
         * Sign in
         * @description Sets the cookie of a session. `second_factor_required`: send it all again, with `code`. Attempts are counted by network, and by account and network; a browser that has signed in before has its own count.
         */
        post: operations["postAdminVSession"];
        /** Sign out */
        delete: operations["deleteAdminVSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where the user who calls is signed in */
        get: operations["getAdminVSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a session of the user who calls */
        delete: operations["deleteAdminVSessionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The user who calls: whether there is a password, and a second factor */
        get: operations["getAdminVAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the own password
         * @description It ends all sessions of the user, and answers with a new one.
         */
        post: operations["postAdminVPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to set up a second factor
         * @description It is asked for only after POST /admin/v1/second-factor/confirm.
         */
        post: operations["postAdminVSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/second-factor/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Show a code of the app: from now on each sign-in asks for one */
        post: operations["postAdminVSecondFactorConfirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/second-factor/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take the own second factor away */
        post: operations["postAdminVSecondFactorDisable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How one can sign in here */
        get: operations["getAdminVSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/oidc/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Begin a single sign-on: leads the browser to the issuer */
        get: operations["getAdminVOidcStart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The end of a single sign-on: the issuer leads the browser here */
        get: operations["getAdminVOidcCallback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Users, by e-mail address */
        get: operations["getAdminVUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A user */
        get: operations["getAdminVUsersById"];
        put?: never;
        post?: never;
        /** Delete a user, with its sessions and API tokens */
        delete: operations["deleteAdminVUsersById"];
        options?: never;
        head?: never;
        /**
         * Change the role or the tenant of a user, or disable it
         * @description It ends the sessions of the user. The last owner stays an owner.
         */
        patch: operations["patchAdminVUsersById"];
        trace?: never;
    };
    "/admin/v1/users/{id}/reset-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link by which a user sets a new password
         * @description It works once, and ends with the next one. Give it to the user: it is shown only now.
         */
        post: operations["postAdminVUsersByIdResetLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/users/{id}/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take the second factor of a user away, who has lost it */
        delete: operations["deleteAdminVUsersByIdSecondFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/users/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End all sessions of a user */
        delete: operations["deleteAdminVUsersByIdSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Invitations and resets that nobody has used yet */
        get: operations["getAdminVInvitations"];
        put?: never;
        /**
         * Invite a user
         * @description The link works once, and ends with the next one for the address. It is shown only now.
         */
        post: operations["postAdminVInvitations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take back an invitation or a reset */
        delete: operations["deleteAdminVInvitationsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/links/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a link is for */
        post: operations["postAdminVLinksShow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/links/use": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use a link: set the password
         * @description It works once. Sign in afterwards with POST /admin/v1/session.
         */
        post: operations["postAdminVLinksUse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/links/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a link is for, as earlier releases ask it
         * @description The next release takes it away: the log of a proxy has the path, before the link is used. POST /admin/v1/links/show and /admin/v1/links/use take the token in the body.
         */
        get: operations["getAdminVLinksByToken"];
        put?: never;
        /**
         * Use a link, as earlier releases do
         * @description The next release takes it away: the log of a proxy has the path, before the link is used. POST /admin/v1/links/show and /admin/v1/links/use take the token in the body.
         */
        post: operations["postAdminVLinksByToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/api-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** API tokens of the caller; for readers of users: of all */
        get: operations["getAdminVApiTokens"];
        put?: never;
        /**
         * Make an API token
         * @description Its rights are those of its role, cut by its scopes, and never more than its maker has at the time.
         */
        post: operations["postAdminVApiTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/api-tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API token */
        delete: operations["deleteAdminVApiTokensById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The erasures, the newest first */
        get: operations["getAdminVErasures"];
        put?: never;
        /**
         * Remove the content or the rows of a tenant, or of an end user
         * @description A worker does it, and the job reports what it removed from where and what it could not reach. It waits for requests of its time that still run.
         */
        post: operations["postAdminVErasures"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/erasures/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An erasure, with its progress and its report */
        get: operations["getAdminVErasuresById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/erasures/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop an erasure
         * @description What it has removed stays removed.
         */
        post: operations["postAdminVErasuresByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The days of the usage log that are archived, and their files */
        get: operations["getAdminVArchive"];
        put?: never;
        /** Archive now: a worker begins within a minute */
        post: operations["postAdminVArchive"];
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
        AdminBackgroundAnswer: {
            /**
             * Format: uuid
             * @description The `x-request-id` of its request.
             */
            id: string;
            /** @description As its client knows it. */
            answer_id: string;
            /** Format: uuid */
            tenant_id: string;
            /** Format: uuid */
            key_id: string;
            /** Format: uuid */
            group_id: string;
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
            model: string;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            /** @description Events that can be had again. */
            events: number;
            runs: number;
            /** @description Empty for a tenant that does not see channels (ROUTING_HEADERS). */
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
        AdminBackgroundAnswerList: {
            data: components["schemas"]["AdminBackgroundAnswer"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AdminFile: {
            id: string;
            /** Format: uuid */
            tenant_id: string;
            /** Format: uuid */
            key_id: string;
            /** @enum {string} */
            purpose: "user_data" | "vision" | "assistants";
            filename: string;
            /** @description As the bytes of the file say. */
            media_type: string;
            bytes: number;
            sha256: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        AdminFileList: {
            data: components["schemas"]["AdminFile"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AdminImageJob: {
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
            /** @description Empty for a tenant that does not see channels (ROUTING_HEADERS). */
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
            /** Format: uuid */
            tenant_id: string;
            /** Format: uuid */
            key_id: string;
            /** Format: uuid */
            group_id: string;
        };
        AdminImageJobList: {
            data: components["schemas"]["AdminImageJob"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AdminKeptAnswer: {
            /** @description As its client knows it. Only its tenant has it once. */
            id: string;
            /** Format: uuid */
            tenant_id: string;
            /** Format: uuid */
            key_id: string;
            /** @enum {string} */
            protocol: "openai-responses" | "anthropic-messages";
            model: string;
            /** @description The answer that it continues. */
            previous_id: string | null;
            bytes: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description One that others continue stays as long as one of them.
             */
            expires_at: string;
        };
        AdminKeptAnswerList: {
            data: components["schemas"]["AdminKeptAnswer"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AdminModel: {
            id: string;
            /** @enum {string} */
            state: "enabled" | "disabled";
            /**
             * @description `file`: gateway.yaml manages it, and changes are made there.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            aliases: string[];
            fallbacks: string[];
            /** @description Members of requests for which no vendor adds input that the body does not contain. */
            plain_members: string[];
            context_length: number | null;
            max_output_tokens: number | null;
            images: {
                [key: string]: unknown;
            } | null;
            traits: {
                [key: string]: unknown;
            } | null;
            /** @description In force on all channels, in the words of gateway.yaml; null: it has none. */
            price: {
                [key: string]: unknown;
            } | null;
            price_version: {
                /** Format: uuid */
                id: string;
                /** @description `gateway.yaml`, or who has set it. */
                source: string;
                /** Format: date-time */
                created_at: string;
            } | null;
            /** Format: date-time */
            created_at: string;
        };
        AdminModelDetails: {
            id: string;
            /** @enum {string} */
            state: "enabled" | "disabled";
            /**
             * @description `file`: gateway.yaml manages it, and changes are made there.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            aliases: string[];
            fallbacks: string[];
            /** @description Members of requests for which no vendor adds input that the body does not contain. */
            plain_members: string[];
            context_length: number | null;
            max_output_tokens: number | null;
            images: {
                [key: string]: unknown;
            } | null;
            traits: {
                [key: string]: unknown;
            } | null;
            /** @description In force on all channels, in the words of gateway.yaml; null: it has none. */
            price: {
                [key: string]: unknown;
            } | null;
            price_version: {
                /** Format: uuid */
                id: string;
                /** @description `gateway.yaml`, or who has set it. */
                source: string;
                /** Format: date-time */
                created_at: string;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** @description In force where the model has no price of its own: the library's, by channel. */
            library_prices: {
                channel: string;
                upstream_model: string;
                source: string;
                price: {
                    [key: string]: unknown;
                };
            }[];
        };
        AdminModelList: {
            data: components["schemas"]["AdminModel"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
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
        AlertCondition: components["schemas"]["AlertBudget"] | components["schemas"]["AlertErrorRate"] | components["schemas"]["AlertLatency"] | components["schemas"]["AlertUncharged"] | components["schemas"]["AlertLedgerLag"] | components["schemas"]["AlertNewNetwork"] | components["schemas"]["AlertChannelDown"];
        AlertEpisode: {
            /** Format: uuid */
            id: string;
            rule: {
                /** Format: uuid */
                id: string;
                /** @description Its name then. */
                name: string;
                /** @enum {string} */
                kind: "budget" | "error_rate" | "latency" | "uncharged" | "ledger_lag" | "new_network" | "channel_down";
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
        AlertEpisodeList: {
            data: components["schemas"]["AlertEpisode"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
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
        AlertRequest: {
            name: string;
            condition: components["schemas"]["AlertCondition"];
            /** @default true */
            enabled?: boolean;
            /**
             * @description An episode closes when the condition has not held for so long, so that a value that goes up and down makes one episode.
             * @default 300
             */
            resolve_after_seconds?: number;
            /**
             * @description Where to POST when an episode opens and closes. Null: episodes are listed only.
             * @default null
             */
            webhook?: {
                /** @description Write-only: an http:// or https:// URL of at most 2048 characters without credentials. */
                url: string;
            } | null;
            /**
             * @description The rule watches this tenant only, and its members see it. A member's rule is of its own.
             * @default null
             */
            tenant_id?: string | null;
        };
        AlertRule: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            kind: "budget" | "error_rate" | "latency" | "uncharged" | "ledger_lag" | "new_network" | "channel_down";
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
        AlertRuleList: {
            data: components["schemas"]["AlertRule"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        AlertRuleWithSecret: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            kind: "budget" | "error_rate" | "latency" | "uncharged" | "ledger_lag" | "new_network" | "channel_down";
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
        AlertUncharged: {
            /** @constant */
            kind: "uncharged";
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
            /** @default 60 */
            window_minutes: number;
            /**
             * @description Holds while more of the cost than this was not charged, because no more was held.
             * @default 0
             */
            above_usd: string;
        };
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
                    kind: "budget" | "error_rate" | "latency" | "uncharged" | "ledger_lag" | "new_network" | "channel_down";
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
        AnyError: components["schemas"]["OpenaiError"] | components["schemas"]["MessagesError"];
        AnyFile: components["schemas"]["File"] | components["schemas"]["MessagesFile"];
        AnyFileDeleted: components["schemas"]["FileDeleted"] | components["schemas"]["MessagesFileDeleted"];
        AnyFilePage: components["schemas"]["FilePage"] | components["schemas"]["MessagesFilePage"];
        AnyModel: components["schemas"]["Model"] | components["schemas"]["MessagesModel"];
        AnyModelList: components["schemas"]["ModelList"] | components["schemas"]["MessagesModelList"];
        ApiToken: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Null: ADMIN_TOKEN has made it. */
            user_id: string | null;
            /** @enum {string} */
            role: "owner" | "admin" | "viewer" | "member";
            tenant_id: string | null;
            scopes: string[];
            /** @description Its first characters. */
            hint: string;
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            /** @description Its last use, to the minute. */
            used_at: string | null;
            revoked_at: string | null;
        };
        ApiTokenList: {
            data: components["schemas"]["ApiToken"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        ApiTokenRequest: {
            name: string;
            /** @description `keys:write` includes `keys:read`. */
            scopes: ("log:read" | "log:write" | "keys:read" | "keys:write" | "tenants:read" | "tenants:write" | "money:read" | "money:write" | "catalog:read" | "catalog:write" | "jobs:read" | "jobs:write" | "health:read" | "health:write" | "probes:read" | "probes:write" | "audit:read" | "audit:write" | "alerts:read" | "alerts:write" | "views:read" | "views:write" | "playground:read" | "playground:write" | "users:read" | "users:write" | "settings:read" | "settings:write" | "data:read" | "data:write")[];
            /**
             * @description Default: the maker's. It has at most the maker's rights.
             * @enum {string}
             */
            role?: "owner" | "admin" | "viewer" | "member";
            /** @description With the role `member`: its tenant. */
            tenant_id?: string | null;
            /** @description Null: it does not expire. */
            expires_at?: string | null;
        };
        ArchiveDue: {
            due: boolean;
        };
        ArchiveFile: {
            /** @description The table that its rows come from. */
            table: string;
            /**
             * Format: date
             * @description In UTC.
             */
            day: string;
            part: number;
            /**
             * @description `writing`; `verified`: it is whole, and Postgres still has its rows; `dropped`: only the archive has them; `abandoned`: it is deleted.
             * @enum {string}
             */
            state: "writing" | "verified" | "dropped" | "abandoned";
            /** @description Its name below the directory or prefix; null: a day without rows. */
            location: string | null;
            rows: number | null;
            bytes: number | null;
            sha256: string | null;
            /** @description For each column the count of its values, and a sum that follows from them. */
            sums: {
                [key: string]: string;
            } | null;
            first_at: string | null;
            last_at: string | null;
            /** Format: date-time */
            started_at: string;
            verified_at: string | null;
            dropped_at: string | null;
            abandoned_at: string | null;
            /** @description Why it was abandoned. */
            error: string | null;
        };
        ArchiveState: {
            /** @description HOT_DAYS of this process; 0: nothing is archived. */
            hot_days: number;
            /** @description When the next pass is due; null: none has run. */
            next_pass_at: string | null;
            totals: {
                table: string;
                /** @enum {string} */
                state: "writing" | "verified" | "dropped" | "abandoned";
                files: number;
                rows: number;
                bytes: number;
                /** Format: date */
                first_day: string;
                /** Format: date */
                last_day: string;
            }[];
            files: {
                data: components["schemas"]["ArchiveFile"][];
                /** @description Null on the last page. */
                next_cursor: string | null;
            };
        };
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            actor: {
                /** @enum {string} */
                kind: "operator" | "user" | "token" | "key" | "file" | "system";
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
        AuditList: {
            data: components["schemas"]["AuditEntry"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
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
            /** @description Of the key, of the key that made it, and of its group. */
            budgets: {
                /** @enum {string} */
                of: "key" | "parent" | "group";
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
        Channel: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description `deleted`: disabled, and its credentials are erased.
             * @enum {string}
             */
            state: "enabled" | "disabled" | "deleted";
            /**
             * @description `file`: gateway.yaml manages it, and changes are made there.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            /** @description Base URL by protocol. */
            protocols: {
                [key: string]: string;
            };
            vendor: string | null;
            /** @description As in gateway.yaml: "*", or the upstream's name by model. */
            models: "*" | {
                [key: string]: unknown;
            };
            traits: {
                [key: string]: unknown;
            } | null;
            priority: number;
            weight: number;
            allow_private_address: boolean | string[];
            /** @description Null: `allow` where one tenant alone reaches the channel, else `own`. */
            shared_state: ("allow" | "own") | null;
            concurrency: number | null;
            images: {
                concurrency: number | null;
                per_minute: number | null;
            };
            /** @description Members of requests for which its vendor adds no input that the body does not contain. */
            plain_members: string[];
            timeouts: {
                [key: string]: number;
            };
            /** @description Whether requests of `openai-responses` go by WebSocket. */
            websocket: boolean;
            /** @description Without its user and password. */
            proxy: string | null;
            /** @description Names of the extra headers. Their values are not shown. */
            headers: string[];
            ca: string | null;
            cert: string | null;
            /** @description Whether there is a key to the certificate. It is not shown. */
            has_key: boolean;
            /** @description `api_keys`, in the order of use. */
            credentials: components["schemas"]["ChannelCredential"][];
            /** @description False: another SECRET_KEY has encrypted its secrets. Send api_keys and the others again. */
            is_readable: boolean;
        };
        ChannelCredential: {
            /** @description The first 8 hex digits of its SHA-256, as attempts in the usage log name it. */
            id: string;
            /** @description Null where it is too short to show them. */
            last_four: string | null;
        };
        ChannelCredentialList: {
            /** @description In the order of use. */
            data: components["schemas"]["ChannelCredential"][];
        };
        ChannelCredentialReplacement: {
            /** @description Write-only. Empty: the upstream wants none. */
            secret: string;
        };
        ChannelList: {
            data: components["schemas"]["Channel"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        ChannelOffers: {
            channel: string;
            models: "*" | {
                [key: string]: unknown;
            };
        };
        ChannelPatch: {
            name?: string | null;
            protocols?: {
                [key: string]: string;
            } | null;
            base_url?: string | null;
            api_keys?: string[] | null;
            models?: ("*" | string[] | {
                [key: string]: string | {
                    upstream: string;
                    traits: {
                        input?: ("text" | "image" | "document" | "audio" | "video")[];
                        output?: ("text" | "image" | "document" | "audio" | "video")[];
                        tools?: boolean;
                        parallel_tools?: boolean;
                        forced_tools?: boolean;
                        forced_tools_while_thinking?: boolean;
                        strict_tools?: boolean;
                        custom_tools?: boolean;
                        tools_with_format?: boolean;
                        forced_tools_with_format?: boolean;
                        tools_while_thinking?: boolean;
                        takes?: {
                            [key: string]: boolean;
                        };
                        temperature_with_top_p?: boolean;
                        temperature_max?: number;
                        sampling_while_thinking?: boolean;
                        stop_max?: number;
                        choices_max?: number;
                        /** @enum {string} */
                        thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                        thinking_off?: boolean;
                        thinking_default?: boolean;
                        /** @enum {string} */
                        thinking_switch?: "thinking" | "enable_thinking";
                        thinking_budget_min?: number;
                        thinking_budget_max?: number;
                        effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                        /** @enum {string} */
                        effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                        /** @enum {string} */
                        output_bound?: "max_tokens" | "max_completion_tokens";
                        prefill?: boolean;
                        /** @enum {string} */
                        schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                        json_mode?: boolean;
                        developer_role?: boolean;
                        later_instructions?: boolean;
                        several_instructions?: boolean;
                        text_parts?: boolean;
                        user_after_tool_results?: boolean;
                        /** @enum {string} */
                        thoughts_in_history?: "required" | "text" | "refused";
                        /** @enum {string} */
                        call_ids?: "any" | "nine";
                        /** @enum {string} */
                        caching?: "marks" | "breakpoints" | "automatic" | "none";
                        fetches_urls?: boolean;
                        web_search?: boolean;
                        streaming?: boolean;
                        context_length?: number;
                        max_output_tokens?: number;
                        output_tokens_min?: number;
                        protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
                    };
                };
            }) | null;
            vendor?: ("openai" | "anthropic" | "gemini" | "mistral" | "deepseek" | "qwen" | "xai" | "moonshot" | "zai" | "minimax" | "cohere" | "azure-openai" | "bedrock" | "groq" | "cerebras" | "together" | "fireworks" | "nvidia" | "huggingface" | "openrouter" | "litellm" | "vllm" | "ollama" | "lmstudio" | "llamacpp") | null;
            traits?: {
                input?: ("text" | "image" | "document" | "audio" | "video")[];
                output?: ("text" | "image" | "document" | "audio" | "video")[];
                tools?: boolean;
                parallel_tools?: boolean;
                forced_tools?: boolean;
                forced_tools_while_thinking?: boolean;
                strict_tools?: boolean;
                custom_tools?: boolean;
                tools_with_format?: boolean;
                forced_tools_with_format?: boolean;
                tools_while_thinking?: boolean;
                takes?: {
                    [key: string]: boolean;
                };
                temperature_with_top_p?: boolean;
                temperature_max?: number;
                sampling_while_thinking?: boolean;
                stop_max?: number;
                choices_max?: number;
                /** @enum {string} */
                thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                thinking_off?: boolean;
                thinking_default?: boolean;
                /** @enum {string} */
                thinking_switch?: "thinking" | "enable_thinking";
                thinking_budget_min?: number;
                thinking_budget_max?: number;
                effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                /** @enum {string} */
                effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                /** @enum {string} */
                output_bound?: "max_tokens" | "max_completion_tokens";
                prefill?: boolean;
                /** @enum {string} */
                schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                json_mode?: boolean;
                developer_role?: boolean;
                later_instructions?: boolean;
                several_instructions?: boolean;
                text_parts?: boolean;
                user_after_tool_results?: boolean;
                /** @enum {string} */
                thoughts_in_history?: "required" | "text" | "refused";
                /** @enum {string} */
                call_ids?: "any" | "nine";
                /** @enum {string} */
                caching?: "marks" | "breakpoints" | "automatic" | "none";
                fetches_urls?: boolean;
                web_search?: boolean;
                streaming?: boolean;
                context_length?: number;
                max_output_tokens?: number;
                output_tokens_min?: number;
                protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
            } | null;
            priority?: number | null;
            weight?: number | null;
            allow_private_address?: (boolean | string[]) | null;
            shared_state?: ("allow" | "own") | null;
            concurrency?: number | null;
            images?: {
                concurrency?: number;
                per_minute?: number;
            } | null;
            plain_members?: string[] | null;
            proxy?: string | null;
            ca?: string | null;
            cert?: string | null;
            key?: string | null;
            headers?: {
                [key: string]: string;
            } | null;
            timeouts?: {
                connect_ms?: number;
                first_byte_ms?: number;
                idle_ms?: number;
                total_ms?: number;
            } | null;
            websocket?: boolean | null;
        };
        ChannelRequest: {
            name: string;
            protocols?: {
                [key: string]: string;
            };
            base_url?: string;
            api_keys: string[];
            models: "*" | string[] | {
                [key: string]: string | {
                    upstream: string;
                    traits: {
                        input?: ("text" | "image" | "document" | "audio" | "video")[];
                        output?: ("text" | "image" | "document" | "audio" | "video")[];
                        tools?: boolean;
                        parallel_tools?: boolean;
                        forced_tools?: boolean;
                        forced_tools_while_thinking?: boolean;
                        strict_tools?: boolean;
                        custom_tools?: boolean;
                        tools_with_format?: boolean;
                        forced_tools_with_format?: boolean;
                        tools_while_thinking?: boolean;
                        takes?: {
                            [key: string]: boolean;
                        };
                        temperature_with_top_p?: boolean;
                        temperature_max?: number;
                        sampling_while_thinking?: boolean;
                        stop_max?: number;
                        choices_max?: number;
                        /** @enum {string} */
                        thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                        thinking_off?: boolean;
                        thinking_default?: boolean;
                        /** @enum {string} */
                        thinking_switch?: "thinking" | "enable_thinking";
                        thinking_budget_min?: number;
                        thinking_budget_max?: number;
                        effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                        /** @enum {string} */
                        effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                        /** @enum {string} */
                        output_bound?: "max_tokens" | "max_completion_tokens";
                        prefill?: boolean;
                        /** @enum {string} */
                        schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                        json_mode?: boolean;
                        developer_role?: boolean;
                        later_instructions?: boolean;
                        several_instructions?: boolean;
                        text_parts?: boolean;
                        user_after_tool_results?: boolean;
                        /** @enum {string} */
                        thoughts_in_history?: "required" | "text" | "refused";
                        /** @enum {string} */
                        call_ids?: "any" | "nine";
                        /** @enum {string} */
                        caching?: "marks" | "breakpoints" | "automatic" | "none";
                        fetches_urls?: boolean;
                        web_search?: boolean;
                        streaming?: boolean;
                        context_length?: number;
                        max_output_tokens?: number;
                        output_tokens_min?: number;
                        protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
                    };
                };
            };
            /** @enum {string} */
            vendor?: "openai" | "anthropic" | "gemini" | "mistral" | "deepseek" | "qwen" | "xai" | "moonshot" | "zai" | "minimax" | "cohere" | "azure-openai" | "bedrock" | "groq" | "cerebras" | "together" | "fireworks" | "nvidia" | "huggingface" | "openrouter" | "litellm" | "vllm" | "ollama" | "lmstudio" | "llamacpp";
            traits?: {
                input?: ("text" | "image" | "document" | "audio" | "video")[];
                output?: ("text" | "image" | "document" | "audio" | "video")[];
                tools?: boolean;
                parallel_tools?: boolean;
                forced_tools?: boolean;
                forced_tools_while_thinking?: boolean;
                strict_tools?: boolean;
                custom_tools?: boolean;
                tools_with_format?: boolean;
                forced_tools_with_format?: boolean;
                tools_while_thinking?: boolean;
                takes?: {
                    [key: string]: boolean;
                };
                temperature_with_top_p?: boolean;
                temperature_max?: number;
                sampling_while_thinking?: boolean;
                stop_max?: number;
                choices_max?: number;
                /** @enum {string} */
                thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                thinking_off?: boolean;
                thinking_default?: boolean;
                /** @enum {string} */
                thinking_switch?: "thinking" | "enable_thinking";
                thinking_budget_min?: number;
                thinking_budget_max?: number;
                effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                /** @enum {string} */
                effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                /** @enum {string} */
                output_bound?: "max_tokens" | "max_completion_tokens";
                prefill?: boolean;
                /** @enum {string} */
                schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                json_mode?: boolean;
                developer_role?: boolean;
                later_instructions?: boolean;
                several_instructions?: boolean;
                text_parts?: boolean;
                user_after_tool_results?: boolean;
                /** @enum {string} */
                thoughts_in_history?: "required" | "text" | "refused";
                /** @enum {string} */
                call_ids?: "any" | "nine";
                /** @enum {string} */
                caching?: "marks" | "breakpoints" | "automatic" | "none";
                fetches_urls?: boolean;
                web_search?: boolean;
                streaming?: boolean;
                context_length?: number;
                max_output_tokens?: number;
                output_tokens_min?: number;
                protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
            };
            /** @default 0 */
            priority?: number;
            /** @default 1 */
            weight?: number;
            allow_private_address?: boolean | string[];
            /** @enum {string} */
            shared_state?: "allow" | "own";
            concurrency?: number;
            /** @default {} */
            images?: {
                concurrency?: number;
                per_minute?: number;
            };
            /** @default [] */
            plain_members?: string[];
            proxy?: string;
            ca?: string;
            cert?: string;
            key?: string;
            headers?: {
                [key: string]: string;
            };
            timeouts?: {
                connect_ms?: number;
                first_byte_ms?: number;
                idle_ms?: number;
                total_ms?: number;
            };
            websocket?: boolean;
        };
        ChannelTest: {
            channel: string;
            /** @description All of them were answered well. */
            ok: boolean;
            results: {
                protocol: string;
                model: string;
                upstream_model: string;
                ok: boolean;
                /** @description The upstream's; null: it did not answer. */
                status: number | null;
                latency_ms: number;
                first_byte_ms: number | null;
                /** @description Of its row in the usage log, of tenant tollgate-probes. */
                request_id: string | null;
                /** @description The first 400 characters of the answer, redacted. */
                first_bytes: string;
                /** @description In the upstream's words, redacted. */
                error: string | null;
            }[];
        };
        ChannelTestRequest: {
            /** @description Default: the first model that the channel offers. */
            model?: string;
            /** @description Default: each that it speaks, one request for each. */
            protocol?: string;
        };
        ClosedBreaker: {
            channel: string;
            /** @constant */
            breaker: "closed";
        };
        Confirmation: {
            password: string;
            /** @description Six digits of the app, or a recovery code. Each works once. */
            code?: string;
        };
        Conversation: {
            id: string;
            /** @constant */
            object: "conversation";
            /** @description Seconds since the epoch. */
            created_at: number;
            metadata: {
                [key: string]: unknown;
            };
        };
        ConversationChange: {
            metadata: {
                [key: string]: string;
            } | null;
        };
        ConversationDeleted: {
            id: string;
            /** @constant */
            object: "conversation.deleted";
            /** @constant */
            deleted: true;
        };
        /** @description An item in the words of the Responses format. */
        ConversationItem: {
            [key: string]: unknown;
        };
        ConversationItemPage: {
            /** @constant */
            object: "list";
            data: components["schemas"]["ConversationItem"][];
            first_id: string | null;
            last_id: string | null;
            has_more: boolean;
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
        Deleted: {
            /** Format: uuid */
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedAlertRule: {
            /** Format: uuid */
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedChannel: {
            /** Format: uuid */
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedModel: {
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedVerdict: {
            id: string;
            /** @constant */
            deleted: true;
        };
        Ended: {
            /** @constant */
            ended: true;
        };
        Entry: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "opening" | "top_up" | "adjustment" | "charge";
            /** @description USD, an exact decimal. */
            amount_usd: string;
            /** @description Nano-USD in decimal digits. */
            amount_nano_usd: string;
            note: string | null;
            /** Format: date-time */
            created_at: string;
        };
        EntryList: {
            data: components["schemas"]["Entry"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
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
        Erasure: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            tenant_id: string;
            /** @description Null: all of the tenant, or the job has ended and forgotten it. */
            end_user: string | null;
            /** @description Hexadecimal, to recognise the end user by; null: all of the tenant. */
            end_user_sha256: string | null;
            /** @enum {string} */
            what: "content" | "rows";
            from: string | null;
            /** Format: date-time */
            to: string;
            dry_run: boolean;
            /** @enum {string} */
            state: "queued" | "running" | "waiting" | "succeeded" | "cancelled";
            /** @description What it must wait for; null: nothing. */
            waits_for: string | null;
            /** @description Why it could not go on; it tries again. */
            error: string | null;
            /** @description The time of the rows that the present pass has reached. */
            reached: string | null;
            /** @description What is gone, by place; of a dry run, what would go. Rows without their content count as rows. */
            counts: {
                [key: string]: number;
            };
            /** @description What no job reaches; empty until the job has succeeded. */
            not_reached: string[];
            /** @description Who asked for it. */
            actor: string;
            /** Format: date-time */
            created_at: string;
            started_at: string | null;
            ended_at: string | null;
        };
        ErasureList: {
            data: components["schemas"]["Erasure"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        ErasureRequest: {
            /** @description Its id or its name. */
            tenant: string;
            /** @description One end user of it, as `end_user` of the usage log. Default: all of the tenant. */
            end_user?: string | null;
            /**
             * @description `content`: rows stay without it. `rows`: they go too; sums, balances and entries stay.
             * @enum {string}
             */
            what: "content" | "rows";
            /** @description Requests that arrived at this moment or later. Default: all. */
            from?: string | null;
            /** @description Requests that arrived before. Default, and at the latest: now. */
            to?: string | null;
            /**
             * @description True: count, and change nothing.
             * @default false
             */
            dry_run?: boolean;
        };
        File: {
            id: string;
            /** @constant */
            object: "file";
            bytes: number;
            /** @description Seconds since the epoch. */
            created_at: number;
            /** @description Seconds since the epoch. From then on the file is gone. */
            expires_at: number;
            filename: string;
            /** @enum {string} */
            purpose: "user_data" | "vision" | "assistants";
            /** @constant */
            status: "processed";
        };
        FileDeleted: {
            id: string;
            /** @constant */
            object: "file";
            /** @constant */
            deleted: true;
        };
        FilePage: {
            /** @constant */
            object: "list";
            data: components["schemas"]["File"][];
            first_id: string | null;
            last_id: string | null;
            has_more: boolean;
        };
        FileUpload: {
            /**
             * Format: binary
             * @description PDF, PNG, JPEG, GIF, WebP, or text in UTF-8.
             */
            file: string;
            /**
             * @description In the Messages format, which has none, `user_data`.
             * @enum {string}
             */
            purpose: "user_data" | "vision" | "assistants";
            /** @description The end user whose file it is: an erasure of this user deletes it. */
            user?: string;
            /** @constant */
            "expires_after[anchor]"?: "created_at";
            "expires_after[seconds]"?: number;
            /** @description The same, in the Messages format. */
            expires_in_seconds?: number;
        };
        Group: {
            /** Format: uuid */
            id: string;
            name: string;
            description: string | null;
            /** @description Whether the public catalog shows its models and prices to everybody. */
            public: boolean;
            /** @description `*`: all models. */
            models: string[];
            /** @description `*`: all channels. */
            channels: string[];
            price_multiplier: string;
            image_priority: number;
            /** @description Whether the usage log keeps answers. A key may say otherwise. */
            capture_answers: boolean;
            /** @description Whether answers are kept for later requests. A key may say otherwise. */
            responses: {
                store: boolean;
                /** @description For how many days. Absent: none is kept. */
                days?: number;
                /** @description The model that sums up conversations. Absent: the client's. */
                compact_model?: string;
            };
            client_gone: {
                /** @enum {string} */
                policy: "drain" | "abort";
                seconds: number;
                /**
                 * @description Where money is limited and nothing of the answer had come: charged at once, or held first.
                 * @enum {string}
                 */
                unseen: "estimate" | "hold";
            };
            /** @description Of each key that has none of its own. */
            limits: {
                /** @description Null: unbounded. */
                requests_per_minute: number | null;
                /** @description Null: unbounded. */
                tokens_per_minute: number | null;
                /** @description Null: unbounded. */
                concurrency: number | null;
            };
            /** @description Of all its keys together. */
            total_limits: {
                /** @description Null: unbounded. */
                requests_per_minute: number | null;
                /** @description Null: unbounded. */
                tokens_per_minute: number | null;
                /** @description Null: unbounded. */
                concurrency: number | null;
            };
            /** @description The most that may be spent in a day, in a month (UTC) and in total; null: no budget. */
            budget: {
                /** @description USD, an exact decimal; null: unbounded. */
                day: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                month: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                total: string | null;
            } | null;
            /**
             * @description `file`: gateway.yaml has it, and only a change there can change it.
             * @enum {string}
             */
            managed_by: "file" | "admin";
        };
        GroupChange: {
            name?: string | null;
            description?: string | null;
            public?: boolean | null;
            models?: string[] | null;
            channels?: string[] | null;
            price_multiplier?: string | number | null;
            image_priority?: number | null;
            capture_answers?: boolean | null;
            responses?: {
                store?: boolean | null;
                days?: number | null;
                compact_model?: string | null;
            } | null;
            client_gone?: {
                policy?: ("drain" | "abort") | null;
                seconds?: number | null;
                unseen?: ("estimate" | "hold") | null;
            } | null;
            limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            total_limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            budget?: {
                day?: string | number | null;
                month?: string | number | null;
                total?: string | number | null;
            } | null;
        };
        GroupList: {
            data: components["schemas"]["Group"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        Health: {
            /** @enum {string} */
            status: "All well" | "problems";
            /** @description What is wrong now, the worst first. Empty: all is well. */
            problems: components["schemas"]["HealthProblem"][];
            database: {
                reachable: boolean;
                migrations: number | null;
                /** @description The number of the last change of the catalog. */
                catalog_revision: number | null;
                keys_revision: number | null;
            };
            catalog: {
                /** @description The one that this process serves by. */
                revision: number;
            };
            channels: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @enum {string} */
                state: "enabled" | "disabled" | "deleted";
                is_readable: boolean;
                /** @description Null: closed. */
                breaker: {
                    /** @enum {string} */
                    state: "open" | "half open";
                    /** @description The last failure. */
                    reason: string;
                    /** Format: date-time */
                    since: string;
                    /** Format: date-time */
                    open_until: string;
                    /** @description In a row. */
                    openings: number;
                } | null;
                credentials: number;
                /** @description Of this process. */
                cooldowns: {
                    /** @description Its id. */
                    credential: string;
                    last_four: string | null;
                    /** @description Null: for all models. */
                    model: string | null;
                    /** @enum {string} */
                    why: "limited" | "refused" | "forbidden";
                    left_ms: number;
                }[];
                /** @description Calls of this process. */
                load: {
                    running: number;
                    most: number;
                };
                /** @description Of the last 10 minutes, of all processes. */
                recent: {
                    calls: number;
                    failed: number;
                    last_error: string | null;
                };
            }[];
            queues: {
                reachable: boolean;
                backend: ("redis" | "postgres") | null;
                images: {
                    waiting: number;
                    delayed: number;
                    active: number;
                } | null;
                answers: {
                    waiting: number;
                    delayed: number;
                    active: number;
                } | null;
                webhooks: {
                    waiting: number;
                    delayed: number;
                    active: number;
                } | null;
                probes: {
                    waiting: number;
                    delayed: number;
                    active: number;
                } | null;
                /** @description Image jobs that wait, in the queue or before it. */
                images_waiting: number | null;
                /** @description Answers in the background that wait, in the queue or before it. */
                answers_waiting: number | null;
                webhooks_waiting: number | null;
            };
            /** @description Of this process. */
            ledger: {
                /** @enum {string} */
                status: "ready" | "degraded" | "lagging" | "near_bound";
                unshipped_rows: number;
                unshipped_oldest_ms: number;
                journal_bytes: number;
                trouble: string | null;
                frames_set_aside: number;
                adoption_failed: {
                    instance: string;
                    reason: string;
                }[];
            };
            /** @description WebSockets of clients of this process. */
            sockets: {
                open: number;
                /** @description What they remember of their last answers. */
                state_bytes: number;
                /** @description Those with most, 20 at most. */
                keys: {
                    key_id: string;
                    open: number;
                }[];
            };
            processes: {
                /** Format: uuid */
                id: string;
                host: string;
                pid: number;
                /** Format: date-time */
                started_at: string;
                /** Format: date-time */
                heartbeat_at: string;
            }[];
        };
        HealthProblem: {
            /**
             * @description `bad`: requests fail, or soon will.
             * @enum {string}
             */
            severity: "bad" | "warning";
            /** @description In plain words. */
            what: string;
            since: string | null;
            /** @description The part of the gateway, as `channel openai-eu`. */
            where: string;
        };
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
            /** @description Empty for a tenant that does not see channels (ROUTING_HEADERS). */
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
        ImageJobPage: {
            data: components["schemas"]["ImageJob"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        ImageWebhook: {
            /** @description `image.generation.` and the job's `status`. */
            type: string;
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["ImageJob"];
        };
        ImportedKey: {
            name: string;
            group?: string | null;
            secret: string;
            capture?: ("none" | "shape" | "content") | null;
            capture_answers?: boolean | null;
            responses?: {
                store?: boolean | null;
                days?: number | null;
            } | null;
            usage_scope?: ("tenant" | "key") | null;
            strict?: boolean | null;
            sub_keys?: number | null;
            expires_at?: (string) | null;
            disabled?: boolean | null;
            allowed_models?: string[] | null;
            allowed_cidrs?: string[] | null;
            limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            budget?: {
                day?: string | number | null;
                month?: string | number | null;
                total?: string | number | null;
            } | null;
            /** @description Its tenant: id or name. */
            tenant: string;
        };
        InvitationRequest: {
            /** Format: email */
            email: string;
            /** @enum {string} */
            role: "owner" | "admin" | "viewer" | "member";
            /**
             * @description Of a member; null for all other roles.
             * @default null
             */
            tenant_id?: string | null;
        };
        Key: {
            /** Format: uuid */
            id: string;
            tenant: string;
            /** Format: uuid */
            tenant_id: string;
            name: string;
            group: string;
            /** Format: uuid */
            group_id: string;
            /** @description The start of its secret. */
            hint: string;
            /** @enum {string} */
            capture: "none" | "shape" | "content";
            /** @description Null: as its group. */
            capture_answers: boolean | null;
            /** @description Null: as its group. */
            responses: {
                store: boolean;
                /** @description For how many days. Absent: none is kept. */
                days?: number;
            } | null;
            /** @enum {string} */
            usage_scope: "tenant" | "key";
            strict: boolean;
            /** @description How many sub-keys it may have at once; null: it may make none. */
            sub_keys: number | null;
            /** @description The key that made it; null: an admin or a file. */
            parent_id: string | null;
            /** @description Null: all models of its group. */
            allowed_models: string[] | null;
            /** @description Null: any address. */
            allowed_cidrs: string[] | null;
            /** @description Null: those of its group. */
            limits: {
                /** @description Null: unbounded. */
                requests_per_minute: number | null;
                /** @description Null: unbounded. */
                tokens_per_minute: number | null;
                /** @description Null: unbounded. */
                concurrency: number | null;
            } | null;
            /** @description The most that may be spent in a day, in a month (UTC) and in total; null: no budget. */
            budget: {
                /** @description USD, an exact decimal; null: unbounded. */
                day: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                month: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                total: string | null;
            } | null;
            /** @description Null: never. */
            expires_at: string | null;
            /** @description Until then the secret before the last rotation works too. */
            former_secret_until: string | null;
            disabled: boolean;
            disabled_at: string | null;
            /** @description Who may enable it again: what an admin or a file has disabled, no member enables. Null: it is enabled. */
            disabled_by: ("admin" | "member") | null;
            /** @description It is disabled for ever. */
            revoked_at: string | null;
            /**
             * @description `file`: gateway.yaml has it, and only a change there can change it.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            /** Format: date-time */
            created_at: string;
        };
        KeyChange: {
            name?: string | null;
            group?: string | null;
            capture?: ("none" | "shape" | "content") | null;
            capture_answers?: boolean | null;
            responses?: {
                store?: boolean | null;
                days?: number | null;
            } | null;
            usage_scope?: ("tenant" | "key") | null;
            strict?: boolean | null;
            sub_keys?: number | null;
            expires_at?: (string) | null;
            disabled?: boolean | null;
            allowed_models?: string[] | null;
            allowed_cidrs?: string[] | null;
            limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            budget?: {
                day?: string | number | null;
                month?: string | number | null;
                total?: string | number | null;
            } | null;
        };
        KeyList: {
            data: components["schemas"]["ListedKey"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        KeyRotation: {
            /**
             * @description How long the former secret works still.
             * @default 0
             */
            grace_seconds?: number;
        };
        KeyUsage: {
            limits: {
                /**
                 * @description Whose limit it is: `key` also where the group sets it for each key, `parent` of a sub-key: the key that made it.
                 * @enum {string}
                 */
                of: "key" | "parent" | "group" | "tenant";
                /** @enum {string} */
                limit: "requests_per_minute" | "tokens_per_minute" | "concurrency";
                allowed: number;
                /** @description Null for `concurrency`: running requests are not counted for this answer. */
                left: number | null;
                /** @description How long until nothing of it is used, without more requests. */
                full_in_ms: number | null;
            }[];
            /** @description Of the key, of the key that made it, and of its group, as far as Postgres has the charges. */
            budgets: {
                /** @enum {string} */
                of: "key" | "parent" | "group";
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
            /** @description The tenant's; null where it has no limit. */
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
        };
        LastLedgerVerification: {
            /** @description The last one; null: there was none. */
            verification: components["schemas"]["LedgerVerification"] | null;
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
                /** @description The first 100 of them, as `tollgate ledger inspect` names them. */
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
        LedgerVerification: {
            /** Format: uuid */
            id: string;
            /**
             * @description `ended`: it has looked at everything, and `holds` says what came of it.
             * @enum {string}
             */
            state: "running" | "ended" | "cancelled" | "failed";
            /** @description Whether every rule holds; null: it has not ended. */
            holds: boolean | null;
            /** @description The month from which on it looks; null: at everything. */
            since: string | null;
            started_by: string;
            /** Format: date-time */
            started_at: string;
            ended_at: string | null;
            progress: {
                /** @description Steps; each is a statement of its own, and some take minutes. */
                done: number;
                /** @description 0: not counted yet. */
                of: number;
                /** @description The rule that is checked now. */
                doing: string | null;
            };
            /** @description How many requests it has looked at; null: it has not ended. */
            requests: number | null;
            /** @description Those whose process died: their cost is unknown. */
            orphaned: number | null;
            /** @description All rules; null: it has not ended. */
            findings: {
                /** @description In words: what must hold. */
                rule: string;
                /** @description What does not fit; 0: the rule holds. */
                differences: number;
                /** @description A few of them. */
                samples: string[];
            }[] | null;
            /** @description Why it failed. */
            error: string | null;
        };
        LedgerVerificationRequest: {
            /** @description Leaves out what is older than this month (UTC). Balances are checked all the same. Default: nothing is left out. */
            since?: string | null;
        };
        LinkList: {
            data: {
                /** Format: uuid */
                id: string;
                /** @enum {string} */
                purpose: "setup" | "invitation" | "reset";
                email: string | null;
                role: ("owner" | "admin" | "viewer" | "member") | null;
                tenant_id: string | null;
                made_by: string;
                /** Format: date-time */
                expires_at: string;
            }[];
        };
        ListedKey: {
            /** Format: uuid */
            id: string;
            tenant: string;
            /** Format: uuid */
            tenant_id: string;
            name: string;
            group: string;
            /** Format: uuid */
            group_id: string;
            /** @description The start of its secret. */
            hint: string;
            /** @enum {string} */
            capture: "none" | "shape" | "content";
            /** @description Null: as its group. */
            capture_answers: boolean | null;
            /** @description Null: as its group. */
            responses: {
                store: boolean;
                /** @description For how many days. Absent: none is kept. */
                days?: number;
            } | null;
            /** @enum {string} */
            usage_scope: "tenant" | "key";
            strict: boolean;
            /** @description How many sub-keys it may have at once; null: it may make none. */
            sub_keys: number | null;
            /** @description The key that made it; null: an admin or a file. */
            parent_id: string | null;
            /** @description Null: all models of its group. */
            allowed_models: string[] | null;
            /** @description Null: any address. */
            allowed_cidrs: string[] | null;
            /** @description Null: those of its group. */
            limits: {
                /** @description Null: unbounded. */
                requests_per_minute: number | null;
                /** @description Null: unbounded. */
                tokens_per_minute: number | null;
                /** @description Null: unbounded. */
                concurrency: number | null;
            } | null;
            /** @description The most that may be spent in a day, in a month (UTC) and in total; null: no budget. */
            budget: {
                /** @description USD, an exact decimal; null: unbounded. */
                day: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                month: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                total: string | null;
            } | null;
            /** @description Null: never. */
            expires_at: string | null;
            /** @description Until then the secret before the last rotation works too. */
            former_secret_until: string | null;
            disabled: boolean;
            disabled_at: string | null;
            /** @description Who may enable it again: what an admin or a file has disabled, no member enables. Null: it is enabled. */
            disabled_by: ("admin" | "member") | null;
            /** @description It is disabled for ever. */
            revoked_at: string | null;
            /**
             * @description `file`: gateway.yaml has it, and only a change there can change it.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            /** Format: date-time */
            created_at: string;
            /** @description When its last request began, to the minute. Null: none is known. */
            last_used_at: string | null;
            /** @description The /24 (IPv6: the /48) of its last request. */
            last_network: string | null;
            /** @description The network that was new last: the key was used from others before. Null: it was used from one only. */
            new_network: string | null;
            /** @description When its first request from there began. */
            new_network_at: string | null;
        };
        LogDetail: {
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
            /** @description Where the tokens come from: `upstream`, `partial`, `estimated` or `none`; `implausible`: more than the request can have used. */
            usage_source: string;
            /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
            stream_end: string | null;
            /** @description What the counts cost, in nano-USD as decimal digits; null where that is not known. */
            cost_nano_usd: string | null;
            /** @description What was charged: the cost, but where money is limited at most what was held. */
            charged_nano_usd: string | null;
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
                /** @description The channel's credential: the first 8 hex digits of its SHA-256. Null where none was used, where it is not known, and for members. */
                credential: string | null;
            }[];
            /** @description What translation changed: a list of `{ path, action, reason }`. */
            notes: components["schemas"]["TranslationNote"][];
            /** @description The upstream's id of the last call. */
            upstream_request_id: string | null;
            /** @description How many requests the row stands for; more than 1 in a flood of refusals. */
            folded: number;
            client_address: string | null;
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
            /** @description What the client got. Null where it is not kept, and until it is. */
            answer: {
                /** @description `content`. */
                capture: string;
                /** @description True: a part of what the client got is missing. */
                truncated: boolean;
                /** @description The redacted answer, as JSON: `choices`, each with its `content` and its `end`. */
                body: string;
            } | null;
            /** @description The tenant, under its name of then; null where it is not known. */
            tenant: {
                /** Format: uuid */
                id: string;
                name: string | null;
            } | null;
            /** @description The key, under its name of then; null where it is not known. */
            key: {
                /** Format: uuid */
                id: string;
                name: string | null;
            } | null;
            /** @description The key's group, under its name of then; null where it is not known. */
            group: {
                /** Format: uuid */
                id: string;
                name: string | null;
            } | null;
            price_id: string | null;
            /** @description What the request moved on its account. */
            entries: {
                /** Format: uuid */
                id: string;
                /** Format: uuid */
                account_id: string;
                /** Format: date-time */
                created_at: string;
                kind: string;
                /** @description Nano-USD in decimal digits; negative where money was taken. */
                amount_nano_usd: string;
                note: string | null;
            }[];
            /** @description The request that a client would have to send; null for a path that no model answers. */
            as_curl: {
                /** @description For a POSIX shell, with `$TOLLGATE_KEY` in place of the key. */
                command: string;
                /** @description How it differs from the request as the client sent it. */
                differs: string[];
            } | null;
        };
        LogErrors: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description The largest first. */
            data: {
                kind: string;
                /** @description The path that was called. Null: the paths of small groups together, where there are very many. */
                endpoint: string | null;
                /** @description The channel that answered, or was asked last. Null: none was asked, and for members. */
                channel: string | null;
                /** @description Null: no upstream answered, and for members. */
                upstream_status: number | null;
                /** @description A row of a flood counts as the requests it stands for. */
                requests: number;
                /**
                 * Format: date-time
                 * @description The first one of the time that was asked for.
                 */
                first_at: string;
                /** Format: date-time */
                last_at: string;
                /** Format: uuid */
                last_request_id: string;
                /** @description What the client of the last request was told. Null: its day is in the archive. */
                last_message: string | null;
            }[];
            /** @description The groups behind `data` together; null: there are none. */
            other: {
                groups: number;
                /** @description A row of a flood counts as the requests it stands for. */
                requests: number;
            } | null;
            /** @description All errors that were counted. */
            requests: number;
            /** @description False: only the errors in `progress` are counted. */
            exact: boolean;
            /** @description The part of the log in which all matching rows are found. */
            progress: {
                /** Format: date-time */
                searched_from: string;
                /** Format: date-time */
                searched_to: string;
                /** @description False: the page is not full, and there is more to search. Ask for the next page. Of the greatest: there may be greater ones before this time. */
                done: boolean;
            };
        };
        LogHistogram: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @enum {string} */
            width: "minute" | "hour" | "day";
            data: {
                /** Format: date-time */
                starts_at: string;
                /** @description Requests by outcome. */
                outcomes: {
                    [key: string]: number;
                };
            }[];
            /** @description All that were counted. */
            requests: number;
            /** @description False: only the requests in `progress` are counted. */
            exact: boolean;
            /** @description The part of the log in which all matching rows are found. */
            progress: {
                /** Format: date-time */
                searched_from: string;
                /** Format: date-time */
                searched_to: string;
                /** @description False: the page is not full, and there is more to search. Ask for the next page. Of the greatest: there may be greater ones before this time. */
                done: boolean;
            };
        };
        LogPage: {
            data: components["schemas"]["LogRow"][];
            /** @description Null when the whole time is searched, and for the greatest. */
            next_cursor: string | null;
            /** @description The part of the log in which all matching rows are found. */
            progress: {
                /** Format: date-time */
                searched_from: string;
                /** Format: date-time */
                searched_to: string;
                /** @description False: the page is not full, and there is more to search. Ask for the next page. Of the greatest: there may be greater ones before this time. */
                done: boolean;
            };
        };
        LogRow: {
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
            /** @description Where the tokens come from: `upstream`, `partial`, `estimated` or `none`; `implausible`: more than the request can have used. */
            usage_source: string;
            /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
            stream_end: string | null;
            /** @description What the counts cost, in nano-USD as decimal digits; null where that is not known. */
            cost_nano_usd: string | null;
            /** @description What was charged: the cost, but where money is limited at most what was held. */
            charged_nano_usd: string | null;
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
            /** @description The tenant, under its name of then; null where it is not known. */
            tenant: {
                /** Format: uuid */
                id: string;
                name: string | null;
            } | null;
            /** @description The key, under its name of then; null where it is not known. */
            key: {
                /** Format: uuid */
                id: string;
                name: string | null;
            } | null;
            /** @description The key's group, under its name of then; null where it is not known. */
            group: {
                /** Format: uuid */
                id: string;
                name: string | null;
            } | null;
            client_address: string | null;
            user_agent: string | null;
        };
        MadeApiToken: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Null: ADMIN_TOKEN has made it. */
            user_id: string | null;
            /** @enum {string} */
            role: "owner" | "admin" | "viewer" | "member";
            tenant_id: string | null;
            scopes: string[];
            /** @description Its first characters. */
            hint: string;
            /** Format: date-time */
            created_at: string;
            expires_at: string | null;
            /** @description Its last use, to the minute. */
            used_at: string | null;
            revoked_at: string | null;
            /** @description Shown once. Send it as bearer token. */
            token: string;
        };
        MadeKey: {
            /** Format: uuid */
            id: string;
            tenant: string;
            /** Format: uuid */
            tenant_id: string;
            name: string;
            group: string;
            /** Format: uuid */
            group_id: string;
            /** @description The start of its secret. */
            hint: string;
            /** @enum {string} */
            capture: "none" | "shape" | "content";
            /** @description Null: as its group. */
            capture_answers: boolean | null;
            /** @description Null: as its group. */
            responses: {
                store: boolean;
                /** @description For how many days. Absent: none is kept. */
                days?: number;
            } | null;
            /** @enum {string} */
            usage_scope: "tenant" | "key";
            strict: boolean;
            /** @description How many sub-keys it may have at once; null: it may make none. */
            sub_keys: number | null;
            /** @description The key that made it; null: an admin or a file. */
            parent_id: string | null;
            /** @description Null: all models of its group. */
            allowed_models: string[] | null;
            /** @description Null: any address. */
            allowed_cidrs: string[] | null;
            /** @description Null: those of its group. */
            limits: {
                /** @description Null: unbounded. */
                requests_per_minute: number | null;
                /** @description Null: unbounded. */
                tokens_per_minute: number | null;
                /** @description Null: unbounded. */
                concurrency: number | null;
            } | null;
            /** @description The most that may be spent in a day, in a month (UTC) and in total; null: no budget. */
            budget: {
                /** @description USD, an exact decimal; null: unbounded. */
                day: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                month: string | null;
                /** @description USD, an exact decimal; null: unbounded. */
                total: string | null;
            } | null;
            /** @description Null: never. */
            expires_at: string | null;
            /** @description Until then the secret before the last rotation works too. */
            former_secret_until: string | null;
            disabled: boolean;
            disabled_at: string | null;
            /** @description Who may enable it again: what an admin or a file has disabled, no member enables. Null: it is enabled. */
            disabled_by: ("admin" | "member") | null;
            /** @description It is disabled for ever. */
            revoked_at: string | null;
            /**
             * @description `file`: gateway.yaml has it, and only a change there can change it.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            /** Format: date-time */
            created_at: string;
            /** @description It is shown this once. We do not store it. */
            secret: string;
        };
        MadeLink: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            purpose: "setup" | "invitation" | "reset";
            email: string | null;
            role: ("owner" | "admin" | "viewer" | "member") | null;
            tenant_id: string | null;
            made_by: string;
            /** Format: date-time */
            expires_at: string;
            /** @description Shown once. Whoever has it can use it: see POST /admin/v1/links/use. */
            token: string;
            /** @description The page of the console that uses it. No log of a proxy has what stands behind the `#`. */
            url: string;
        };
        MadeSubKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The start of its secret. */
            hint: string;
            allowed_models: string[] | null;
            allowed_cidrs: string[] | null;
            limits: {
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrency: number | null;
            };
            /** @description USD. */
            budget: {
                day: string | null;
                month: string | null;
                total: string | null;
            };
            expires_at: string | null;
            revoked_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Shown this once. */
            secret: string;
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
        MessagesFile: {
            id: string;
            /** @constant */
            type: "file";
            filename: string;
            mime_type: string;
            size_bytes: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description From then on the file is gone.
             */
            expires_at: string;
            /** @constant */
            downloadable: true;
        };
        MessagesFileDeleted: {
            id: string;
            /** @constant */
            type: "file_deleted";
        };
        MessagesFilePage: {
            data: components["schemas"]["MessagesFile"][];
            first_id: string | null;
            last_id: string | null;
            has_more: boolean;
            /** @description For `page`; null: there are no more. */
            next_page: string | null;
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
            /**
             * @description All that are listed are served.
             * @constant
             */
            lifecycle: "active";
            deprecated_at: null;
            retires_at: null;
            line: null;
            /** @description The vendor's form of them; `GET /v1/models` without `anthropic-version` has ours. */
            capabilities: null;
        };
        MessagesModelList: {
            data: components["schemas"]["MessagesModel"][];
            has_more: boolean;
            first_id: string | null;
            last_id: string | null;
        };
        MessagesTokensRequest: {
            /** @description A model, as `GET /v1/models` lists them. */
            model: string;
        } & {
            [key: string]: unknown;
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
            /** @description When a probe, or refusals of the upstream, last proved what `capabilities` says, by its member. A member that is absent here comes from built-in tables or from the operator. */
            capabilities_proved_at: {
                [key: string]: string;
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
        ModelPatch: {
            id?: string | null;
            aliases?: string[] | null;
            fallbacks?: string[] | null;
            plain_members?: string[] | null;
            context_length?: number | null;
            max_output_tokens?: number | null;
            price?: {
                input?: string | number;
                cache_read?: string | number;
                cache_write?: string | number;
                cache_write_1h?: string | number;
                output?: string | number;
                reasoning?: string | number;
                audio_input?: string | number;
                audio_output?: string | number;
                web_search?: string | number;
                image?: string | number;
                images?: {
                    size?: string;
                    quality?: string;
                    usd: string | number;
                }[];
                tiers?: {
                    above_input_tokens: number;
                    input?: string | number;
                    cache_read?: string | number;
                    cache_write?: string | number;
                    cache_write_1h?: string | number;
                    output?: string | number;
                    reasoning?: string | number;
                    audio_input?: string | number;
                    audio_output?: string | number;
                    web_search?: string | number;
                }[];
                service_tiers?: {
                    [key: string]: (string | number) | {
                        input?: string | number;
                        cache_read?: string | number;
                        cache_write?: string | number;
                        cache_write_1h?: string | number;
                        output?: string | number;
                        reasoning?: string | number;
                        audio_input?: string | number;
                        audio_output?: string | number;
                        web_search?: string | number;
                        tiers?: {
                            above_input_tokens: number;
                            input?: string | number;
                            cache_read?: string | number;
                            cache_write?: string | number;
                            cache_write_1h?: string | number;
                            output?: string | number;
                            reasoning?: string | number;
                            audio_input?: string | number;
                            audio_output?: string | number;
                            web_search?: string | number;
                        }[];
                    };
                };
            } | null;
            images?: {
                sizes?: string[];
                qualities?: string[];
                styles?: string[];
                backgrounds?: string[];
                output_formats?: string[];
                images_max?: number;
                partial_images_max?: number;
                prompt_characters_max?: number;
            } | null;
            traits?: {
                input?: ("text" | "image" | "document" | "audio" | "video")[];
                output?: ("text" | "image" | "document" | "audio" | "video")[];
                tools?: boolean;
                parallel_tools?: boolean;
                forced_tools?: boolean;
                forced_tools_while_thinking?: boolean;
                strict_tools?: boolean;
                custom_tools?: boolean;
                tools_with_format?: boolean;
                forced_tools_with_format?: boolean;
                tools_while_thinking?: boolean;
                takes?: {
                    [key: string]: boolean;
                };
                temperature_with_top_p?: boolean;
                temperature_max?: number;
                sampling_while_thinking?: boolean;
                stop_max?: number;
                choices_max?: number;
                /** @enum {string} */
                thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                thinking_off?: boolean;
                thinking_default?: boolean;
                /** @enum {string} */
                thinking_switch?: "thinking" | "enable_thinking";
                thinking_budget_min?: number;
                thinking_budget_max?: number;
                effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                /** @enum {string} */
                effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                /** @enum {string} */
                output_bound?: "max_tokens" | "max_completion_tokens";
                prefill?: boolean;
                /** @enum {string} */
                schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                json_mode?: boolean;
                developer_role?: boolean;
                later_instructions?: boolean;
                several_instructions?: boolean;
                text_parts?: boolean;
                user_after_tool_results?: boolean;
                /** @enum {string} */
                thoughts_in_history?: "required" | "text" | "refused";
                /** @enum {string} */
                call_ids?: "any" | "nine";
                /** @enum {string} */
                caching?: "marks" | "breakpoints" | "automatic" | "none";
                fetches_urls?: boolean;
                web_search?: boolean;
                streaming?: boolean;
                context_length?: number;
                max_output_tokens?: number;
                output_tokens_min?: number;
                protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
            } | null;
        };
        ModelRequest: {
            id: string;
            /** @default [] */
            aliases?: string[];
            /** @default [] */
            fallbacks?: string[];
            /** @default [] */
            plain_members?: string[];
            context_length?: number;
            max_output_tokens?: number;
            price?: {
                input?: string | number;
                cache_read?: string | number;
                cache_write?: string | number;
                cache_write_1h?: string | number;
                output?: string | number;
                reasoning?: string | number;
                audio_input?: string | number;
                audio_output?: string | number;
                web_search?: string | number;
                image?: string | number;
                images?: {
                    size?: string;
                    quality?: string;
                    usd: string | number;
                }[];
                tiers?: {
                    above_input_tokens: number;
                    input?: string | number;
                    cache_read?: string | number;
                    cache_write?: string | number;
                    cache_write_1h?: string | number;
                    output?: string | number;
                    reasoning?: string | number;
                    audio_input?: string | number;
                    audio_output?: string | number;
                    web_search?: string | number;
                }[];
                service_tiers?: {
                    [key: string]: (string | number) | {
                        input?: string | number;
                        cache_read?: string | number;
                        cache_write?: string | number;
                        cache_write_1h?: string | number;
                        output?: string | number;
                        reasoning?: string | number;
                        audio_input?: string | number;
                        audio_output?: string | number;
                        web_search?: string | number;
                        tiers?: {
                            above_input_tokens: number;
                            input?: string | number;
                            cache_read?: string | number;
                            cache_write?: string | number;
                            cache_write_1h?: string | number;
                            output?: string | number;
                            reasoning?: string | number;
                            audio_input?: string | number;
                            audio_output?: string | number;
                            web_search?: string | number;
                        }[];
                    };
                };
            };
            images?: {
                sizes?: string[];
                qualities?: string[];
                styles?: string[];
                backgrounds?: string[];
                output_formats?: string[];
                images_max?: number;
                partial_images_max?: number;
                prompt_characters_max?: number;
            };
            traits?: {
                input?: ("text" | "image" | "document" | "audio" | "video")[];
                output?: ("text" | "image" | "document" | "audio" | "video")[];
                tools?: boolean;
                parallel_tools?: boolean;
                forced_tools?: boolean;
                forced_tools_while_thinking?: boolean;
                strict_tools?: boolean;
                custom_tools?: boolean;
                tools_with_format?: boolean;
                forced_tools_with_format?: boolean;
                tools_while_thinking?: boolean;
                takes?: {
                    [key: string]: boolean;
                };
                temperature_with_top_p?: boolean;
                temperature_max?: number;
                sampling_while_thinking?: boolean;
                stop_max?: number;
                choices_max?: number;
                /** @enum {string} */
                thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                thinking_off?: boolean;
                thinking_default?: boolean;
                /** @enum {string} */
                thinking_switch?: "thinking" | "enable_thinking";
                thinking_budget_min?: number;
                thinking_budget_max?: number;
                effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                /** @enum {string} */
                effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                /** @enum {string} */
                output_bound?: "max_tokens" | "max_completion_tokens";
                prefill?: boolean;
                /** @enum {string} */
                schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                json_mode?: boolean;
                developer_role?: boolean;
                later_instructions?: boolean;
                several_instructions?: boolean;
                text_parts?: boolean;
                user_after_tool_results?: boolean;
                /** @enum {string} */
                thoughts_in_history?: "required" | "text" | "refused";
                /** @enum {string} */
                call_ids?: "any" | "nine";
                /** @enum {string} */
                caching?: "marks" | "breakpoints" | "automatic" | "none";
                fetches_urls?: boolean;
                web_search?: boolean;
                streaming?: boolean;
                context_length?: number;
                max_output_tokens?: number;
                output_tokens_min?: number;
                protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
            };
        };
        NewChannelCredential: {
            /** @description Write-only. Empty: the upstream wants none. */
            secret: string;
            /** @description Its place in the order of use, 0 being first. Default: the last. */
            position?: number;
        };
        NewConversation: {
            metadata?: {
                [key: string]: string;
            } | null;
            items?: components["schemas"]["ConversationItem"][] | null;
        };
        NewConversationItems: {
            /** @description At most 20. */
            items: components["schemas"]["ConversationItem"][];
        };
        NewGroup: {
            name: string;
            description?: string | null;
            public?: boolean | null;
            models?: string[] | null;
            channels?: string[] | null;
            price_multiplier?: string | number | null;
            image_priority?: number | null;
            capture_answers?: boolean | null;
            responses?: {
                store?: boolean | null;
                days?: number | null;
                compact_model?: string | null;
            } | null;
            client_gone?: {
                policy?: ("drain" | "abort") | null;
                seconds?: number | null;
                unseen?: ("estimate" | "hold") | null;
            } | null;
            limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            total_limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            budget?: {
                day?: string | number | null;
                month?: string | number | null;
                total?: string | number | null;
            } | null;
        };
        NewKey: {
            name: string;
            group?: string | null;
            capture?: ("none" | "shape" | "content") | null;
            capture_answers?: boolean | null;
            responses?: {
                store?: boolean | null;
                days?: number | null;
            } | null;
            usage_scope?: ("tenant" | "key") | null;
            strict?: boolean | null;
            sub_keys?: number | null;
            expires_at?: (string) | null;
            disabled?: boolean | null;
            allowed_models?: string[] | null;
            allowed_cidrs?: string[] | null;
            limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            budget?: {
                day?: string | number | null;
                month?: string | number | null;
                total?: string | number | null;
            } | null;
            /** @description Its tenant: id or name. */
            tenant: string;
        };
        NewSavedView: {
            name: string;
            /** @description The page of the console, such as `log`. */
            page: string;
            /** @description The parameters of the page: each a text, or a list of texts. */
            query: {
                [key: string]: string | string[];
            };
            /**
             * @description Whether all of the tenant, or all operators, see it.
             * @default false
             */
            shared?: boolean;
        };
        NewTenant: {
            name: string;
            balance_usd?: string | number | null;
            disabled?: boolean | null;
            limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            retention?: {
                rows_days?: number | null;
                bodies_days?: number | null;
                answers_days?: number | null;
            } | null;
        };
        Offer: {
            channel: string;
            /** Format: uuid */
            channel_id: string;
            model: string;
            /** @description "*": the name that the client wrote. */
            upstream_model: string;
            /**
             * @description Of its channel and its model.
             * @enum {string}
             */
            state: "enabled" | "disabled";
            /**
             * @description `file`: gateway.yaml manages it, and changes are made there.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            /** @description Stated for this offer. */
            traits: {
                [key: string]: unknown;
            } | null;
            protocols: {
                [key: string]: {
                    [key: string]: {
                        value: unknown;
                        /**
                         * @description The place that decides it: our tables of vendors and families of models, a verdict, or settings.
                         * @enum {string}
                         */
                        from: "vendor" | "family" | "refusal" | "probe" | "file" | "admin";
                    };
                };
            };
            /** @description What an answer is paid by: the model's own price, or the library's. */
            price: {
                source: string;
                price: {
                    [key: string]: unknown;
                };
            } | null;
            verdicts: {
                protocol: string;
                subject: string;
                /** @enum {string} */
                origin: "probe" | "refusal";
                /** @enum {string} */
                verdict: "yes" | "no" | "unknown";
                /** Format: date-time */
                decided_at: string;
                expires_at: string | null;
            }[];
        };
        OfferList: {
            data: components["schemas"]["Offer"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        OfferRequest: {
            upstream: string;
            traits?: {
                input?: ("text" | "image" | "document" | "audio" | "video")[];
                output?: ("text" | "image" | "document" | "audio" | "video")[];
                tools?: boolean;
                parallel_tools?: boolean;
                forced_tools?: boolean;
                forced_tools_while_thinking?: boolean;
                strict_tools?: boolean;
                custom_tools?: boolean;
                tools_with_format?: boolean;
                forced_tools_with_format?: boolean;
                tools_while_thinking?: boolean;
                takes?: {
                    [key: string]: boolean;
                };
                temperature_with_top_p?: boolean;
                temperature_max?: number;
                sampling_while_thinking?: boolean;
                stop_max?: number;
                choices_max?: number;
                /** @enum {string} */
                thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                thinking_off?: boolean;
                thinking_default?: boolean;
                /** @enum {string} */
                thinking_switch?: "thinking" | "enable_thinking";
                thinking_budget_min?: number;
                thinking_budget_max?: number;
                effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                /** @enum {string} */
                effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                /** @enum {string} */
                output_bound?: "max_tokens" | "max_completion_tokens";
                prefill?: boolean;
                /** @enum {string} */
                schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                json_mode?: boolean;
                developer_role?: boolean;
                later_instructions?: boolean;
                several_instructions?: boolean;
                text_parts?: boolean;
                user_after_tool_results?: boolean;
                /** @enum {string} */
                thoughts_in_history?: "required" | "text" | "refused";
                /** @enum {string} */
                call_ids?: "any" | "nine";
                /** @enum {string} */
                caching?: "marks" | "breakpoints" | "automatic" | "none";
                fetches_urls?: boolean;
                web_search?: boolean;
                streaming?: boolean;
                context_length?: number;
                max_output_tokens?: number;
                output_tokens_min?: number;
                protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
            };
        };
        OpenLink: {
            /** @enum {string} */
            purpose: "setup" | "invitation" | "reset";
            /** @description Null: a set-up link, whose user says it. */
            email: string | null;
            /** Format: date-time */
            expires_at: string;
        };
        OpenSessions: {
            data: {
                /** Format: uuid */
                id: string;
                /** @description The session of this call. */
                current: boolean;
                /** @enum {string} */
                method: "password" | "oidc";
                address: string;
                user_agent: string;
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                used_at: string;
                /** Format: date-time */
                expires_at: string;
            }[];
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
                /** @description The id of the row, as in x-request-id: not every client shows headers. */
                request_id?: string;
            };
        };
        OwnKey: {
            /** Format: uuid */
            id: string;
            name: string;
            tenant: string;
            group: string;
            /** @description The key that made this one. */
            parent_id: string | null;
            /**
             * @description What the usage log keeps of bodies.
             * @enum {string}
             */
            capture: "none" | "shape" | "content";
            /** @enum {string} */
            usage_scope: "tenant" | "key";
            expires_at: string | null;
            /** @description Null: any address. */
            allowed_cidrs: string[] | null;
            /** @description Of all limits that hold, the one with the least left; null: none. */
            requests_per_minute: {
                limit: number;
                remaining: number;
                /** @description Until all are left again. */
                full_in_ms: number;
            } | null;
            /** @description Of all limits that hold, the one with the least left; null: none. */
            tokens_per_minute: {
                limit: number;
                remaining: number;
                /** @description Until all are left again. */
                full_in_ms: number;
            } | null;
            /** @description Requests that may run at once; null: unbounded. */
            concurrency: number | null;
            money: components["schemas"]["Budget"];
            /** @description The models that it may use. `GET /v1/models` says more of each. */
            models: string[];
            /** @description How many sub-keys it may have at once. */
            sub_keys_max: number;
        };
        PasswordChange: {
            current_password: string;
            /** @description 12 to 256 characters. */
            new_password: string;
            /** @description Six digits of the app, or a recovery code. Each works once. */
            code?: string;
        };
        PlaygroundEvent: {
            [key: string]: unknown;
        };
        PlaygroundRequest: {
            /** @description The key under which the request is made, by its id or by its name. */
            key: {
                /** Format: uuid */
                id: string;
            } | {
                name: string;
                /** @description The tenant's name. */
                tenant: string;
            };
            /** @enum {string} */
            endpoint: "/v1/chat/completions" | "/v1/responses" | "/v1/responses/compact" | "/v1/messages" | "/v1/embeddings" | "/v1/moderations" | "/v1/completions" | "/v1/images/generations";
            /** @description The body, in the format of the endpoint. */
            request: {
                [key: string]: unknown;
            };
        };
        PriceRequest: {
            input?: string | number;
            cache_read?: string | number;
            cache_write?: string | number;
            cache_write_1h?: string | number;
            output?: string | number;
            reasoning?: string | number;
            audio_input?: string | number;
            audio_output?: string | number;
            web_search?: string | number;
            image?: string | number;
            images?: {
                size?: string;
                quality?: string;
                usd: string | number;
            }[];
            tiers?: {
                above_input_tokens: number;
                input?: string | number;
                cache_read?: string | number;
                cache_write?: string | number;
                cache_write_1h?: string | number;
                output?: string | number;
                reasoning?: string | number;
                audio_input?: string | number;
                audio_output?: string | number;
                web_search?: string | number;
            }[];
            service_tiers?: {
                [key: string]: (string | number) | {
                    input?: string | number;
                    cache_read?: string | number;
                    cache_write?: string | number;
                    cache_write_1h?: string | number;
                    output?: string | number;
                    reasoning?: string | number;
                    audio_input?: string | number;
                    audio_output?: string | number;
                    web_search?: string | number;
                    tiers?: {
                        above_input_tokens: number;
                        input?: string | number;
                        cache_read?: string | number;
                        cache_write?: string | number;
                        cache_write_1h?: string | number;
                        output?: string | number;
                        reasoning?: string | number;
                        audio_input?: string | number;
                        audio_output?: string | number;
                        web_search?: string | number;
                    }[];
                };
            };
        };
        PriceVersion: {
            /**
             * Format: uuid
             * @description Rows of the usage log name the version that they were paid by.
             */
            id: string;
            /**
             * Format: date-time
             * @description From this moment it is in force, until the next version.
             */
            created_at: string;
            /** @description `gateway.yaml`, or who has set it. */
            source: string;
            /** @description In the words of gateway.yaml; null: none. */
            price: {
                [key: string]: unknown;
            } | null;
        };
        PriceVersionList: {
            data: components["schemas"]["PriceVersion"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
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
        ProbeRunList: {
            data: components["schemas"]["ProbeRun"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        ProbeRuns: {
            data: components["schemas"]["ProbeRun"][];
        };
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
        PublicCatalog: {
            groups: {
                name: string;
                /** @description At the group's price. */
                models: components["schemas"]["Model"][];
            }[];
        };
        RecoveryCodes: {
            user: components["schemas"]["User"];
            /** @description Each works once in place of a code. Shown once. */
            recovery_codes: string[];
        };
        RedeemRequest: {
            /** @description 12 to 256 characters. */
            password: string;
            /**
             * Format: email
             * @description For a set-up link.
             */
            email?: string;
        };
        ResponsesTokensRequest: {
            /** @description A model, as `GET /v1/models` lists them. */
            model: string;
            /** @description An earlier answer that counts too. */
            previous_response_id?: string | null;
            /** @description A conversation whose items count too. */
            conversation?: (string | ({
                id: string;
            } & {
                [key: string]: unknown;
            })) | null;
        } & {
            [key: string]: unknown;
        };
        SavedView: {
            name: string;
            /** @description The page of the console, such as `log`. */
            page: string;
            /** @description The parameters of the page: each a text, or a list of texts. */
            query: {
                [key: string]: string | string[];
            };
            shared: boolean;
            /** Format: uuid */
            id: string;
            /** @description Who has made it, by the name then. */
            user: string;
            /** @description Whether it is yours: only then can you change it. */
            own: boolean;
            tenant_id: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            changed_at: string;
        };
        SavedViewChanges: {
            name?: string;
            /** @description The page of the console, such as `log`. */
            page?: string;
            /** @description The parameters of the page: each a text, or a list of texts. */
            query?: {
                [key: string]: string | string[];
            };
            shared?: boolean;
        };
        SavedViewList: {
            data: components["schemas"]["SavedView"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        SecondFactor: {
            /** @description For an app that takes no pictures. Shown once. */
            secret: string;
            /** @description `otpauth://`: show it as a picture (QR code) to the app. */
            uri: string;
        };
        SecondFactorCode: {
            /** @description Six digits of the app, or a recovery code. Each works once. */
            code: string;
        };
        Session: {
            /** @enum {string} */
            kind: "operator" | "user" | "token";
            /** @description Of the user, or of the API token; null: the operator. */
            id: string | null;
            name: string;
            /** @enum {string} */
            role: "owner" | "admin" | "viewer" | "member";
            tenant_id: string | null;
            /** @description What the caller may do in each area. A member: in its own tenant only. */
            may: {
                [key: string]: ("read" | "write")[];
            };
        };
        Settings: {
            /** @description Can be changed here. */
            prices: {
                /** @description As `prices` of gateway.yaml; null: prices of the library do not apply. */
                value: unknown;
                managed_by: ("file" | "admin") | null;
                /** @description Of the package that its data come from. */
                version: string | null;
                renewed_at: string | null;
            };
            /** @description Settings and bounds of the process that answers. They change with a restart. */
            environment: {
                name: string;
                /** @description Null where it is not set, and for secrets. */
                value: unknown;
                default: unknown;
                /**
                 * @description `environment`: its value is another than the default.
                 * @enum {string}
                 */
                from: "environment" | "default";
                is_secret: boolean;
                is_set: boolean;
            }[];
        };
        SettingsPatch: {
            /** @description As in gateway.yaml: "library", or a map with renew and renew_from; null: none. */
            prices: unknown;
        };
        ShowLinkRequest: {
            /** @description The token of the link. In a body, no log of a proxy has it. */
            token: string;
        };
        SignInMethods: {
            /** @constant */
            password: true;
            single_sign_on: boolean;
        };
        SignInRequest: {
            /** Format: email */
            email: string;
            password: string;
            /** @description Six digits of the app, or a recovery code. Each works once. */
            code?: string;
        };
        SubKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The start of its secret. */
            hint: string;
            allowed_models: string[] | null;
            allowed_cidrs: string[] | null;
            limits: {
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrency: number | null;
            };
            /** @description USD. */
            budget: {
                day: string | null;
                month: string | null;
                total: string | null;
            };
            expires_at: string | null;
            revoked_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        SubKeyList: {
            data: components["schemas"]["SubKey"][];
        };
        SubKeyRequest: {
            name: string;
            /** @description Ids. Default: those of this key. */
            allowed_models?: string[];
            /** @description Blocks. They hold beside those of this key. */
            allowed_cidrs?: string[];
            expires_at?: string;
            /** @description They hold beside those of this key, which all its sub-keys share. */
            limits?: {
                requests_per_minute?: number;
                tokens_per_minute?: number;
                concurrency?: number;
            };
            /** @description USD. It holds beside that of this key, which all its sub-keys share. */
            budget?: {
                day?: string | number;
                month?: string | number;
                total?: string | number;
            };
        };
        Summary: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description False: the time was widened to whole hours, because its ends have too many requests to read, or none any more. */
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
                /** @description The part of the cost that was not charged, because no more was held for these requests. */
                uncharged_nano_usd: string;
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
                /** @description The part of the cost that was not charged, because no more was held for these requests. */
                uncharged_nano_usd: string;
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
            /** @description The part of the cost that was not charged, because no more was held for these requests. */
            uncharged_nano_usd: string;
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
        SummaryTimeline: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description False: the time was widened to whole hours, because its ends have too many requests to read, or none any more. */
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
                    /** @description The part of the cost that was not charged, because no more was held for these requests. */
                    uncharged_nano_usd: string;
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
        Tenant: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Whether it can spend its balance only. `/balance` has the balance, which each request changes. */
            limited: boolean;
            /** @description Of all its keys together. */
            limits: {
                /** @description Null: unbounded. */
                requests_per_minute: number | null;
                /** @description Null: unbounded. */
                tokens_per_minute: number | null;
                /** @description Null: unbounded. */
                concurrency: number | null;
            };
            /** @description Days for which its rows, bodies and answers are kept. */
            retention: {
                /** @description Null: as for all tenants. More days than these are those of all. */
                rows_days: number | null;
                /** @description Null: as for all tenants. More days than these are those of all. */
                bodies_days: number | null;
                /** @description Null: as for all tenants. More days than these are those of all. */
                answers_days: number | null;
            };
            /** @description True: all its keys are refused. */
            disabled: boolean;
            disabled_at: string | null;
            /**
             * @description `file`: gateway.yaml has it, and only a change there can change it.
             * @enum {string}
             */
            managed_by: "file" | "admin";
            /** Format: date-time */
            created_at: string;
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
        TenantChange: {
            name?: string | null;
            balance_usd?: string | number | null;
            disabled?: boolean | null;
            limits?: {
                requests_per_minute?: number | null;
                tokens_per_minute?: number | null;
                concurrency?: number | null;
            } | null;
            retention?: {
                rows_days?: number | null;
                bodies_days?: number | null;
                answers_days?: number | null;
            } | null;
        };
        TenantList: {
            data: components["schemas"]["Tenant"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        TokenCount: {
            /** @description Tokens that the request would have. */
            input_tokens: number;
        } & {
            [key: string]: unknown;
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
        TranslationMadeAnew: {
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
            /**
             * @description It is made now, of the kept body and by what is known of the model now: what was sent then may differ.
             * @constant
             */
            made_anew: true;
            /** Format: date-time */
            made_at: string;
            catalog_revision: number;
            /** @description Null for members, and where no channel was called. */
            channel: string | null;
            /** @enum {string} */
            to: "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini";
            /** @description False: the kept body has placeholders in place of secrets or of the middle of long texts. */
            is_body_whole: boolean;
        };
        TranslationNote: {
            /** @description The field in the client's body, or behind `answer.` the part of the upstream's answer. */
            path: string;
            /** @description `mapped`, `emulated`, `defaulted`, `clamped` or `dropped`. */
            action: string;
            reason: string;
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
        /** @description The upstream's own answer, as it came. */
        UpstreamAnswer: {
            [key: string]: unknown;
        };
        UpstreamModels: {
            /**
             * @description `no_list`: the upstream does not know the path of a list. `failed`: `error` says why.
             * @enum {string}
             */
            outcome: "listed" | "no_list" | "failed";
            /** @description In which it was listed. */
            protocol: string | null;
            /** @description By name, at most MODEL_LIST_NAMES_MAX. */
            models: {
                /** @description The upstream's name. */
                id: string;
                /** @description Null: the list does not say. */
                context_length: number | null;
                max_output_tokens: number | null;
            }[];
            /** @description The upstream lists more. */
            is_cut: boolean;
            /** @description The upstream's, where it refused; null: it did not answer, or did not refuse. */
            status: number | null;
            /** @description What went wrong, and the upstream's own words, redacted. */
            error: string | null;
        };
        UpstreamModelsRequest: {
            name?: string;
            protocols?: {
                [key: string]: string;
            };
            base_url?: string;
            api_keys: string[];
            models?: "*" | string[] | {
                [key: string]: string | {
                    upstream: string;
                    traits: {
                        input?: ("text" | "image" | "document" | "audio" | "video")[];
                        output?: ("text" | "image" | "document" | "audio" | "video")[];
                        tools?: boolean;
                        parallel_tools?: boolean;
                        forced_tools?: boolean;
                        forced_tools_while_thinking?: boolean;
                        strict_tools?: boolean;
                        custom_tools?: boolean;
                        tools_with_format?: boolean;
                        forced_tools_with_format?: boolean;
                        tools_while_thinking?: boolean;
                        takes?: {
                            [key: string]: boolean;
                        };
                        temperature_with_top_p?: boolean;
                        temperature_max?: number;
                        sampling_while_thinking?: boolean;
                        stop_max?: number;
                        choices_max?: number;
                        /** @enum {string} */
                        thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                        thinking_off?: boolean;
                        thinking_default?: boolean;
                        /** @enum {string} */
                        thinking_switch?: "thinking" | "enable_thinking";
                        thinking_budget_min?: number;
                        thinking_budget_max?: number;
                        effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                        /** @enum {string} */
                        effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                        /** @enum {string} */
                        output_bound?: "max_tokens" | "max_completion_tokens";
                        prefill?: boolean;
                        /** @enum {string} */
                        schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                        json_mode?: boolean;
                        developer_role?: boolean;
                        later_instructions?: boolean;
                        several_instructions?: boolean;
                        text_parts?: boolean;
                        user_after_tool_results?: boolean;
                        /** @enum {string} */
                        thoughts_in_history?: "required" | "text" | "refused";
                        /** @enum {string} */
                        call_ids?: "any" | "nine";
                        /** @enum {string} */
                        caching?: "marks" | "breakpoints" | "automatic" | "none";
                        fetches_urls?: boolean;
                        web_search?: boolean;
                        streaming?: boolean;
                        context_length?: number;
                        max_output_tokens?: number;
                        output_tokens_min?: number;
                        protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
                    };
                };
            };
            /** @enum {string} */
            vendor?: "openai" | "anthropic" | "gemini" | "mistral" | "deepseek" | "qwen" | "xai" | "moonshot" | "zai" | "minimax" | "cohere" | "azure-openai" | "bedrock" | "groq" | "cerebras" | "together" | "fireworks" | "nvidia" | "huggingface" | "openrouter" | "litellm" | "vllm" | "ollama" | "lmstudio" | "llamacpp";
            traits?: {
                input?: ("text" | "image" | "document" | "audio" | "video")[];
                output?: ("text" | "image" | "document" | "audio" | "video")[];
                tools?: boolean;
                parallel_tools?: boolean;
                forced_tools?: boolean;
                forced_tools_while_thinking?: boolean;
                strict_tools?: boolean;
                custom_tools?: boolean;
                tools_with_format?: boolean;
                forced_tools_with_format?: boolean;
                tools_while_thinking?: boolean;
                takes?: {
                    [key: string]: boolean;
                };
                temperature_with_top_p?: boolean;
                temperature_max?: number;
                sampling_while_thinking?: boolean;
                stop_max?: number;
                choices_max?: number;
                /** @enum {string} */
                thinking?: "none" | "budget" | "adaptive" | "effort" | "switch";
                thinking_off?: boolean;
                thinking_default?: boolean;
                /** @enum {string} */
                thinking_switch?: "thinking" | "enable_thinking";
                thinking_budget_min?: number;
                thinking_budget_max?: number;
                effort_levels?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max")[];
                /** @enum {string} */
                effort_default?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                /** @enum {string} */
                output_bound?: "max_tokens" | "max_completion_tokens";
                prefill?: boolean;
                /** @enum {string} */
                schema?: "any" | "anthropic" | "openai-strict" | "gemini" | "none";
                json_mode?: boolean;
                developer_role?: boolean;
                later_instructions?: boolean;
                several_instructions?: boolean;
                text_parts?: boolean;
                user_after_tool_results?: boolean;
                /** @enum {string} */
                thoughts_in_history?: "required" | "text" | "refused";
                /** @enum {string} */
                call_ids?: "any" | "nine";
                /** @enum {string} */
                caching?: "marks" | "breakpoints" | "automatic" | "none";
                fetches_urls?: boolean;
                web_search?: boolean;
                streaming?: boolean;
                context_length?: number;
                max_output_tokens?: number;
                output_tokens_min?: number;
                protocols?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "openai-images" | "gemini")[];
            };
            /** @default 0 */
            priority?: number;
            /** @default 1 */
            weight?: number;
            allow_private_address?: boolean | string[];
            /** @enum {string} */
            shared_state?: "allow" | "own";
            concurrency?: number;
            /** @default {} */
            images?: {
                concurrency?: number;
                per_minute?: number;
            };
            /** @default [] */
            plain_members?: string[];
            proxy?: string;
            ca?: string;
            cert?: string;
            key?: string;
            headers?: {
                [key: string]: string;
            };
            timeouts?: {
                connect_ms?: number;
                first_byte_ms?: number;
                idle_ms?: number;
                total_ms?: number;
            };
            websocket?: boolean;
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
            /** @description Where the tokens come from: `upstream`, `partial`, `estimated` or `none`; `implausible`: more than the request can have used. */
            usage_source: string;
            /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
            stream_end: string | null;
            /** @description What the counts cost, in nano-USD as decimal digits; null where that is not known. */
            cost_nano_usd: string | null;
            /** @description What was charged: the cost, but where money is limited at most what was held. */
            charged_nano_usd: string | null;
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
            /** @description What the client got. Null where it is not kept, and until it is. */
            answer: {
                /** @description `content`. */
                capture: string;
                /** @description True: a part of what the client got is missing. */
                truncated: boolean;
                /** @description The redacted answer, as JSON: `choices`, each with its `content` and its `end`. */
                body: string;
            } | null;
        };
        UsagePage: {
            data: components["schemas"]["UsageRow"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
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
            /** @description Where the tokens come from: `upstream`, `partial`, `estimated` or `none`; `implausible`: more than the request can have used. */
            usage_source: string;
            /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
            stream_end: string | null;
            /** @description What the counts cost, in nano-USD as decimal digits; null where that is not known. */
            cost_nano_usd: string | null;
            /** @description What was charged: the cost, but where money is limited at most what was held. */
            charged_nano_usd: string | null;
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
                /** @description What was charged for them. */
                charged_nano_usd: string;
                /** @description Requests whose cost is not known. */
                unpriced_requests: number;
            }[];
        };
        UseLinkRequest: {
            /** @description 12 to 256 characters. */
            password: string;
            /**
             * Format: email
             * @description For a set-up link.
             */
            email?: string;
            /** @description The token of the link. In a body, no log of a proxy has it. */
            token: string;
        };
        User: {
            /** Format: uuid */
            id: string;
            email: string;
            /** @enum {string} */
            role: "owner" | "admin" | "viewer" | "member";
            /** @description The tenant of a member; null: all tenants. */
            tenant_id: string | null;
            /** @description False: the user comes by single sign-on only. */
            has_password: boolean;
            has_second_factor: boolean;
            disabled_at: string | null;
            last_sign_in_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        UserChange: {
            /** @enum {string} */
            role?: "owner" | "admin" | "viewer" | "member";
            /** @description Of a member; null for all other roles. */
            tenant_id?: string | null;
            disabled?: boolean;
        };
        UserList: {
            data: components["schemas"]["User"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
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
        WebhookSecret: {
            /** @description `whsec_` and base64, as the Standard Webhooks have it. */
            secret: string;
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
    postResponsesCompact: {
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
            header?: never;
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
            header?: never;
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
            /** @description An answer that the gateway or an upstream keeps */
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
            /** @description Have the gateway or an upstream forget an answer */
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
    postResponsesByIdCancel: {
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
            /** @description Cancel an answer that is made in the background */
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
    getResponsesByIdInputItems: {
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
            /** @description The items of the conversation before a kept answer */
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
    postConversations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewConversation"];
            };
        };
        responses: {
            /** @description Make a conversation */
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
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getConversationsById: {
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
            /** @description A conversation */
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
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postConversationsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationChange"];
            };
        };
        responses: {
            /** @description Change the metadata of a conversation */
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
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    deleteConversationsById: {
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
            /** @description Delete a conversation with its items */
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
                    "application/json": components["schemas"]["ConversationDeleted"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getConversationsByIdItems: {
        parameters: {
            query?: {
                /** @description The id of the last item of the page before. */
                after?: string;
                /** @description Items on a page. */
                limit?: number;
                order?: "asc" | "desc";
                /** @description Ignored: an item has all that is kept of it. */
                include?: string | string[];
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The items of a conversation */
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
                    "application/json": components["schemas"]["ConversationItemPage"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postConversationsByIdItems: {
        parameters: {
            query?: {
                /** @description Ignored: an item has all that is kept of it. */
                include?: string | string[];
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewConversationItems"];
            };
        };
        responses: {
            /** @description Add items to a conversation */
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
                    "application/json": components["schemas"]["ConversationItemPage"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getConversationsByIdItemsByItemId: {
        parameters: {
            query?: {
                /** @description Ignored: an item has all that is kept of it. */
                include?: string | string[];
            };
            header?: never;
            path: {
                id: string;
                item_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An item of a conversation */
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
                    "application/json": components["schemas"]["ConversationItem"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    deleteConversationsByIdItemsByItemId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                item_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete an item of a conversation */
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
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            default: components["responses"]["AnyError"];
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
    getFiles: {
        parameters: {
            query?: {
                /** @description The id of the last file of the page before. */
                after?: string;
                /** @description The same, in the Messages format. */
                after_id?: string;
                /** @description The same: `next_page` of the page before. */
                page?: string;
                /** @description Files on a page. */
                limit?: number;
                /** @description By the time of their upload. */
                order?: "asc" | "desc";
                purpose?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The files of the tenant, or of the key */
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
                    "application/json": components["schemas"]["AnyFilePage"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postFiles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["FileUpload"];
            };
        };
        responses: {
            /** @description Upload a file */
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
                    "application/json": components["schemas"]["AnyFile"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getFilesById: {
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
            /** @description One file, without its bytes */
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
                    "application/json": components["schemas"]["AnyFile"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    deleteFilesById: {
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
            /** @description Delete a file */
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
                    "application/json": components["schemas"]["AnyFileDeleted"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getFilesByIdContent: {
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
            /** @description The bytes of a file */
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
                    "application/octet-stream": unknown;
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postTranslate: {
        parameters: {
            query?: never;
            header?: never;
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
                /** @description The key. */
                key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_endpoint?: string[];
                /** @description The format that the client speaks. */
                client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_model?: string[];
                /** @description The model that the client asked for. */
                requested_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_requested_model?: string[];
                /** @description The model that answered. */
                served_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_served_model?: string[];
                /** @description Whether the client asked for a stream. */
                stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_outcome?: string[];
                /** @description The kind of the error. */
                error_kind?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error_kind?: string[];
                /** @description The message of the error. Any part of it, in capital or small letters. */
                error?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error?: string[];
                /** @description Why the answer ended. */
                finish_reason?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_finish_reason?: string[];
                /** @description `upstream`, `partial`, `estimated`, `none` or `implausible`. */
                usage_source?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_usage_source?: string[];
                /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
                stream_end?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream_end?: string[];
                /** @description The request's `idempotency-key`. */
                idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_end_user?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_session?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tag?: string[];
                /** @description The client's address, or a CIDR block such as `192.0.2.0/24`. */
                client_address?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_address?: string[];
                /** @description The client's `user-agent`. Any part of it, in capital or small letters. */
                user_agent?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_user_agent?: string[];
                /** @description What translation changed: a path, an action or a reason. Any part of it, in capital or small letters. */
                note?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_note?: string[];
                /** @description Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends. */
                cost_usd?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_usd?: string[];
                /** @description Input tokens at the full rate. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                input_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_input_tokens?: string[];
                /** @description Input tokens from the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_read_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_read_tokens?: string[];
                /** @description Input tokens written to the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_write_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_write_tokens?: string[];
                /** @description Output tokens, without reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                output_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_output_tokens?: string[];
                /** @description Output tokens of reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                reasoning_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_reasoning_tokens?: string[];
                /** @description Images delivered. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                images?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_images?: string[];
                /** @description Milliseconds until the first call upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                queue_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_queue_ms?: string[];
                /** @description Milliseconds until the first content. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                first_token_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_first_token_ms?: string[];
                /** @description Milliseconds until the end. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                total_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_total_ms?: string[];
                /** @description Calls upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                attempts?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_attempts?: string[];
                /** @description How many requests the row stands for. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                folded?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_folded?: string[];
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
    getUsageExport: {
        parameters: {
            query?: {
                /** @description The key. */
                key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key_id?: string[];
                /** @description The `x-request-id` of the response. */
                request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_request_id?: string[];
                /** @description The path that was called. */
                endpoint?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_endpoint?: string[];
                /** @description The format that the client speaks. */
                client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_protocol?: string[];
                /** @description The model, as requested or as served. */
                model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_model?: string[];
                /** @description The model that the client asked for. */
                requested_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_requested_model?: string[];
                /** @description The model that answered. */
                served_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_served_model?: string[];
                /** @description Whether the client asked for a stream. */
                stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream?: string[];
                /** @description A status such as `429`, a class such as `4xx` or a range such as `500..504`. */
                status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_status?: string[];
                /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
                outcome?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_outcome?: string[];
                /** @description The kind of the error. */
                error_kind?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error_kind?: string[];
                /** @description The message of the error. Any part of it, in capital or small letters. */
                error?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error?: string[];
                /** @description Why the answer ended. */
                finish_reason?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_finish_reason?: string[];
                /** @description `upstream`, `partial`, `estimated`, `none` or `implausible`. */
                usage_source?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_usage_source?: string[];
                /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
                stream_end?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream_end?: string[];
                /** @description The request's `idempotency-key`. */
                idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_idempotency_key?: string[];
                /** @description The user that the client named. */
                end_user?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_end_user?: string[];
                /** @description The conversation, or run of an agent. */
                session?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_session?: string[];
                /** @description A tag; several: all of them. */
                tag?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tag?: string[];
                /** @description The client's address, or a CIDR block such as `192.0.2.0/24`. */
                client_address?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_address?: string[];
                /** @description The client's `user-agent`. Any part of it, in capital or small letters. */
                user_agent?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_user_agent?: string[];
                /** @description What translation changed: a path, an action or a reason. Any part of it, in capital or small letters. */
                note?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_note?: string[];
                /** @description Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends. */
                cost_usd?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_usd?: string[];
                /** @description Input tokens at the full rate. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                input_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_input_tokens?: string[];
                /** @description Input tokens from the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_read_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_read_tokens?: string[];
                /** @description Input tokens written to the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_write_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_write_tokens?: string[];
                /** @description Output tokens, without reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                output_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_output_tokens?: string[];
                /** @description Output tokens of reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                reasoning_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_reasoning_tokens?: string[];
                /** @description Images delivered. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                images?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_images?: string[];
                /** @description Milliseconds until the first call upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                queue_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_queue_ms?: string[];
                /** @description Milliseconds until the first content. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                first_token_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_first_token_ms?: string[];
                /** @description Milliseconds until the end. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                total_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_total_ms?: string[];
                /** @description Calls upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                attempts?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_attempts?: string[];
                /** @description How many requests the row stands for. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                folded?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_folded?: string[];
                /** @description Requests from this moment on. */
                from?: string;
                /** @description Requests before this moment; a day is meant to its end. */
                to?: string;
                /** @description The format of the file. */
                format?: "csv" | "ndjson";
                /** @description The columns of the file in their order, with commas between them. Default: those of the list. They are: id, created_at, key_id, endpoint, client_protocol, upstream_protocol, requested_model, served_model, channel, stream, end_user, session, tags, status, outcome, error_kind, error_message, error_upstream_status, finish_reason, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, images, usage_source, stream_end, cost_nano, charged_nano, queue_ms, first_token_ms, total_ms, attempt_count, notes, upstream_request_id, folded, client_address, user_agent, idempotency_key, price_multiplier, cost_facts. */
                columns?: string;
                sort?: "-created_at" | "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage log as CSV or NDJSON */
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
                    "text/csv": unknown;
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
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What this key may, and what is left of its limits */
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
                    "application/json": components["schemas"]["OwnKey"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sub-keys of this key, the newest first */
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
                    "application/json": components["schemas"]["SubKeyList"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    postKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubKeyRequest"];
            };
        };
        responses: {
            /** @description Make a sub-key: it may do no more than this key */
            201: {
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
                    "application/json": components["schemas"]["MadeSubKey"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    deleteKeysById: {
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
            /** @description Revoke a sub-key: every process refuses it within a second */
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
                    "application/json": components["schemas"]["SubKey"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getPublicVCatalog: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models and prices of the groups that are public */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublicCatalog"];
                };
            };
            default: components["responses"]["AnyError"];
        };
    };
    getAdminVTenants: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "name" | "-name" | "created_at" | "-created_at";
                /** @description The whole name. */
                name?: string;
                /** @description A part of the name, in small or capital letters. */
                search?: string;
                managed_by?: "file" | "admin";
                disabled?: "true" | "false";
                limited?: "true" | "false";
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
            /** @description Tenants */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVTenants: {
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
                "application/json": components["schemas"]["NewTenant"];
            };
        };
        responses: {
            /** @description Make a tenant */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVTenantsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A tenant */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVTenantsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TenantChange"];
            };
        };
        responses: {
            /** @description Change a tenant */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVTenantsByIdEntries: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at";
                kind?: "opening" | "top_up" | "adjustment" | "charge";
                /** @description With those that requests have made. */
                charges?: "true" | "false";
                from?: string;
                to?: string;
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The movements of a tenant's money */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVTenantsByIdEntries: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
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
    getAdminVTenantsByIdBalance: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
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
    getAdminVGroups: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "name" | "-name" | "created_at" | "-created_at";
                /** @description The whole name. */
                name?: string;
                /** @description A part of the name, in small or capital letters. */
                search?: string;
                managed_by?: "file" | "admin";
                public?: "true" | "false";
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
            /** @description Groups */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVGroups: {
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
                "application/json": components["schemas"]["NewGroup"];
            };
        };
        responses: {
            /** @description Make a group */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVGroupsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A group */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVGroupsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a group that no key is in */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVGroupsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupChange"];
            };
        };
        responses: {
            /** @description Change a group */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVKeys: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at" | "name" | "-name" | "expires_at" | "-expires_at" | "last_used_at" | "-last_used_at" | "new_network_at" | "-new_network_at";
                /** @description The whole name. */
                name?: string;
                /** @description A part of the name, in small or capital letters. */
                search?: string;
                managed_by?: "file" | "admin";
                /** @description Id or name. */
                tenant?: string;
                /** @description Id or name. */
                group?: string;
                /** @description The start of the secret, as a key shows it. */
                hint?: string;
                disabled?: "true" | "false";
                revoked?: "true" | "false";
                expires_before?: string;
                /** @description Keys that were used from this network, or from that of this address, in the last 90 days. */
                network?: string;
                /** @description Keys that were used from a further network since then. */
                new_network_since?: string;
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
            /** @description Keys */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVKeys: {
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
                "application/json": components["schemas"]["NewKey"];
            };
        };
        responses: {
            /** @description Make a key */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeKey"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVKeysById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A key */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVKeysById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyChange"];
            };
        };
        responses: {
            /** @description Change a key */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVKeysImport: {
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
                "application/json": components["schemas"]["ImportedKey"];
            };
        };
        responses: {
            /** @description Make a key with the secret that it has elsewhere */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVKeysByIdRotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** @description Give a key a new secret */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeKey"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVKeysByIdRevoke: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Refuse a key for ever */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVKeysByIdUsage: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is left of the limits and budgets of a key */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyUsage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVChannels: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "name" | "-name" | "priority" | "-priority";
                /** @description Default: all that are not deleted. */
                state?: "enabled" | "disabled" | "deleted";
                managed_by?: "file" | "admin";
                /** @description Only those that offer this model by its name. */
                model?: string;
                /** @description A part of the name, in capital or small letters. */
                search?: string;
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
            /** @description The channels */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannels: {
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
                "application/json": components["schemas"]["ChannelRequest"];
            };
        };
        responses: {
            /** @description Make a channel */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVChannelsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A channel */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVChannelsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a channel: it is disabled, and its credentials and offers are erased */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedChannel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVChannelsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelPatch"];
            };
        };
        responses: {
            /** @description Change a channel */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannelsByIdEnable: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Enable a channel */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannelsByIdDisable: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Disable a channel: it gets no requests, and keeps its settings */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVChannelsByIdCredentials: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credentials of a channel, by their last four characters */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelCredentialList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannelsByIdCredentials: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewChannelCredential"];
            };
        };
        responses: {
            /** @description Add a credential */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelCredentialList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    putAdminVChannelsByIdCredentialsByCredential: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
                /** @description Its id. */
                credential: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelCredentialReplacement"];
            };
        };
        responses: {
            /** @description Replace a credential: the new one has its place in the order */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelCredentialList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVChannelsByIdCredentialsByCredential: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
                /** @description Its id. */
                credential: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a credential */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelCredentialList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannelsUpstreamModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpstreamModelsRequest"];
            };
        };
        responses: {
            /** @description The models that the upstream of a channel-to-be lists */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpstreamModels"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannelsByIdUpstreamModels: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models that the upstream of a channel lists */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpstreamModels"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannelsByIdTest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelTestRequest"];
            };
        };
        responses: {
            /** @description Ask a channel one small thing now */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelTest"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVModels: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "id" | "-id" | "created_at" | "-created_at";
                state?: "enabled" | "disabled";
                managed_by?: "file" | "admin";
                /** @description A part of the id, in capital or small letters. */
                search?: string;
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
            /** @description The models */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModelList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVModels: {
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
                "application/json": components["schemas"]["ModelRequest"];
            };
        };
        responses: {
            /** @description Make a model */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVModelsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id; write a slash in it as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A model, with its price in force */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModelDetails"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVModelsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id; write a slash in it as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a model that nothing names: it is disabled, as one that leaves gateway.yaml */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedModel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVModelsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id; write a slash in it as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelPatch"];
            };
        };
        responses: {
            /** @description Change a model */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVModelsByIdEnable: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id; write a slash in it as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Enable a model */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVModelsByIdDisable: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id; write a slash in it as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Disable a model: nobody can ask for it, and it keeps its settings */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminModel"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVModelsByIdPrices: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at";
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id; write a slash in it as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The versions of a model's price */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceVersionList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVModelsByIdPrices: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id; write a slash in it as %2F. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceRequest"];
            };
        };
        responses: {
            /** @description Set a new price */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PriceVersion"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVOffers: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "model" | "-model" | "channel" | "-channel";
                /** @description The name of a channel. */
                channel?: string;
                model?: string;
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
            /** @description The offers: model by channel, with traits, prices and verdicts */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfferList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    putAdminVChannelsByIdOffersByModel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
                /** @description Of the offer; write a slash in it as %2F. */
                model: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OfferRequest"];
            };
        };
        responses: {
            /** @description Offer a model on a channel, or change its offer */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOffers"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVChannelsByIdOffersByModel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
                /** @description Change the resource only if it still has this ETag; else the answer is 412. */
                "if-match"?: components["parameters"]["if-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
                /** @description Of the offer; write a slash in it as %2F. */
                model: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Take a model off a channel */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOffers"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVChannelsByIdOffers: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models of a channel */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelOffers"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVImageJobs: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at";
                status?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                tenant_id?: string;
                model?: string;
                /** @description The name of a channel that was asked. */
                channel?: string;
                /** @description Default with model or channel: 30 days ago. */
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
            /** @description Image jobs, newest first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminImageJobList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVImageJobsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Of the job: the `x-request-id` of its request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An image job */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminImageJob"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVImageJobsByIdCancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminImageJob"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVBackgroundAnswers: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at";
                status?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                tenant_id?: string;
                model?: string;
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
            /** @description Answers that are made in the background, newest first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminBackgroundAnswerList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVBackgroundAnswersById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description The `x-request-id` of its request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An answer that is made in the background */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminBackgroundAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVBackgroundAnswersByIdCancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                /** @description The `x-request-id` of its request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel an answer that is made in the background */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminBackgroundAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVFiles: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at";
                tenant_id?: string;
                purpose?: "user_data" | "vision" | "assistants";
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
            /** @description Files that clients have uploaded, newest first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminFileList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVFilesById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a file */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminFile"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVTenantsByIdKeptAnswers: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-created_at" | "created_at";
                protocol?: "openai-responses" | "anthropic-messages";
            };
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description Of the tenant: its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Answers that are kept for a tenant, newest first, without their content */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminKeptAnswerList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVTenantsByIdKeptAnswersByAnswer: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                /** @description Of the tenant: its id, or its name. */
                id: string;
                answer: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a kept answer */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminKeptAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVHealth: {
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
            /** @description Is anything wrong? */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVChannelsByIdBreakerReset: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                /** @description Its id, or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Close a channel's breaker in all processes */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClosedBreaker"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVSettings: {
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
            /** @description All settings and bounds, without secrets */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVSettings: {
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
                "application/json": components["schemas"]["SettingsPatch"];
            };
        };
        responses: {
            /** @description Change what can be changed while the gateway runs */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVExport: {
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
            /** @description The state of the gateway as a gateway.yaml, without secrets */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/yaml": unknown;
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
    getAdminVLedgerVerification: {
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
            /** @description The verification of the ledger that runs, or the last one */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastLedgerVerification"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVLedgerVerification: {
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
                "application/json": components["schemas"]["LedgerVerificationRequest"];
            };
        };
        responses: {
            /** @description Verify the ledger */
            202: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastLedgerVerification"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVLedgerVerificationCancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel the verification that runs */
            202: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LastLedgerVerification"];
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
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
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
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
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
    getAdminVRequests: {
        parameters: {
            query?: {
                /** @description The tenant's name, now or at any time before. */
                tenant?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant?: string[];
                /** @description The tenant. */
                tenant_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant_id?: string[];
                /** @description The key's name, now or at any time before. */
                key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key?: string[];
                /** @description The key. */
                key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key_id?: string[];
                /** @description The group's name, now or at any time before. */
                group?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group?: string[];
                /** @description The group that the key was in. */
                group_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group_id?: string[];
                /** @description The `x-request-id` of the response. */
                request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_request_id?: string[];
                /** @description The path that was called. */
                endpoint?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_endpoint?: string[];
                /** @description The format that the client speaks. */
                client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_protocol?: string[];
                /** @description The format in which the upstream was asked. */
                upstream_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_protocol?: string[];
                /** @description The model, as requested or as served. */
                model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_model?: string[];
                /** @description The model that the client asked for. */
                requested_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_requested_model?: string[];
                /** @description The model that answered. */
                served_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_served_model?: string[];
                /** @description The channel that answered, or was asked last. */
                channel?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_channel?: string[];
                /** @description Whether the client asked for a stream. */
                stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream?: string[];
                /** @description A status such as `429`, a class such as `4xx` or a range such as `500..504`. */
                status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_status?: string[];
                /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
                outcome?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_outcome?: string[];
                /** @description The kind of the error. */
                error_kind?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error_kind?: string[];
                /** @description The message of the error. Any part of it, in capital or small letters. */
                error?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error?: string[];
                /** @description The status that the upstream gave with an error. */
                upstream_status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_status?: string[];
                /** @description Why the answer ended. */
                finish_reason?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_finish_reason?: string[];
                /** @description `upstream`, `partial`, `estimated`, `none` or `implausible`. */
                usage_source?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_usage_source?: string[];
                /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
                stream_end?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream_end?: string[];
                /** @description The upstream's id of the last call. */
                upstream_request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_request_id?: string[];
                /** @description The request's `idempotency-key`. */
                idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_idempotency_key?: string[];
                /** @description The user that the client named. */
                end_user?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_end_user?: string[];
                /** @description The conversation, or run of an agent. */
                session?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_session?: string[];
                /** @description A tag; several: all of them. */
                tag?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tag?: string[];
                /** @description The client's address, or a CIDR block such as `192.0.2.0/24`. */
                client_address?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_address?: string[];
                /** @description The client's `user-agent`. Any part of it, in capital or small letters. */
                user_agent?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_user_agent?: string[];
                /** @description What translation changed: a path, an action or a reason. Any part of it, in capital or small letters. */
                note?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_note?: string[];
                /** @description What the cost depends on beside tokens. Any part of it, in capital or small letters. */
                cost_fact?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_fact?: string[];
                /** @description The price of the row. */
                price_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_id?: string[];
                /** @description The multiplier of that price, as decimal. */
                price_multiplier?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_multiplier?: string[];
                /** @description Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends. */
                cost_usd?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_usd?: string[];
                /** @description Whether a part of the cost was not charged, because no more was held. */
                uncharged?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_uncharged?: string[];
                /** @description Input tokens at the full rate. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                input_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_input_tokens?: string[];
                /** @description Input tokens from the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_read_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_read_tokens?: string[];
                /** @description Input tokens written to the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_write_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_write_tokens?: string[];
                /** @description Output tokens, without reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                output_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_output_tokens?: string[];
                /** @description Output tokens of reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                reasoning_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_reasoning_tokens?: string[];
                /** @description Images delivered. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                images?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_images?: string[];
                /** @description Milliseconds until the first call upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                queue_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_queue_ms?: string[];
                /** @description Milliseconds until the first content. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                first_token_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_first_token_ms?: string[];
                /** @description Milliseconds until the end. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                total_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_total_ms?: string[];
                /** @description Calls upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                attempts?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_attempts?: string[];
                /** @description How many requests the row stands for. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                folded?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_folded?: string[];
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description By time, a minus turns it round. Or the greatest of the time by cost, total time or time to the first token: one page of `limit` rows that have a value. */
                sort?: "-created_at" | "created_at" | "-cost" | "-total_ms" | "-first_token_ms";
                /** @description Requests from this moment on. Default: all that are kept. */
                from?: string;
                /** @description Requests before this moment; a day is meant to its end. Default: now. */
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
            /** @description The usage log, by any of its columns */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogPage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVRequestsHistogram: {
        parameters: {
            query?: {
                /** @description The tenant's name, now or at any time before. */
                tenant?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant?: string[];
                /** @description The tenant. */
                tenant_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant_id?: string[];
                /** @description The key's name, now or at any time before. */
                key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key?: string[];
                /** @description The key. */
                key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key_id?: string[];
                /** @description The group's name, now or at any time before. */
                group?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group?: string[];
                /** @description The group that the key was in. */
                group_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group_id?: string[];
                /** @description The `x-request-id` of the response. */
                request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_request_id?: string[];
                /** @description The path that was called. */
                endpoint?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_endpoint?: string[];
                /** @description The format that the client speaks. */
                client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_protocol?: string[];
                /** @description The format in which the upstream was asked. */
                upstream_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_protocol?: string[];
                /** @description The model, as requested or as served. */
                model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_model?: string[];
                /** @description The model that the client asked for. */
                requested_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_requested_model?: string[];
                /** @description The model that answered. */
                served_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_served_model?: string[];
                /** @description The channel that answered, or was asked last. */
                channel?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_channel?: string[];
                /** @description Whether the client asked for a stream. */
                stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream?: string[];
                /** @description A status such as `429`, a class such as `4xx` or a range such as `500..504`. */
                status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_status?: string[];
                /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
                outcome?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_outcome?: string[];
                /** @description The kind of the error. */
                error_kind?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error_kind?: string[];
                /** @description The message of the error. Any part of it, in capital or small letters. */
                error?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error?: string[];
                /** @description The status that the upstream gave with an error. */
                upstream_status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_status?: string[];
                /** @description Why the answer ended. */
                finish_reason?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_finish_reason?: string[];
                /** @description `upstream`, `partial`, `estimated`, `none` or `implausible`. */
                usage_source?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_usage_source?: string[];
                /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
                stream_end?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream_end?: string[];
                /** @description The upstream's id of the last call. */
                upstream_request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_request_id?: string[];
                /** @description The request's `idempotency-key`. */
                idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_idempotency_key?: string[];
                /** @description The user that the client named. */
                end_user?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_end_user?: string[];
                /** @description The conversation, or run of an agent. */
                session?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_session?: string[];
                /** @description A tag; several: all of them. */
                tag?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tag?: string[];
                /** @description The client's address, or a CIDR block such as `192.0.2.0/24`. */
                client_address?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_address?: string[];
                /** @description The client's `user-agent`. Any part of it, in capital or small letters. */
                user_agent?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_user_agent?: string[];
                /** @description What translation changed: a path, an action or a reason. Any part of it, in capital or small letters. */
                note?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_note?: string[];
                /** @description What the cost depends on beside tokens. Any part of it, in capital or small letters. */
                cost_fact?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_fact?: string[];
                /** @description The price of the row. */
                price_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_id?: string[];
                /** @description The multiplier of that price, as decimal. */
                price_multiplier?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_multiplier?: string[];
                /** @description Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends. */
                cost_usd?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_usd?: string[];
                /** @description Whether a part of the cost was not charged, because no more was held. */
                uncharged?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_uncharged?: string[];
                /** @description Input tokens at the full rate. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                input_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_input_tokens?: string[];
                /** @description Input tokens from the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_read_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_read_tokens?: string[];
                /** @description Input tokens written to the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_write_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_write_tokens?: string[];
                /** @description Output tokens, without reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                output_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_output_tokens?: string[];
                /** @description Output tokens of reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                reasoning_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_reasoning_tokens?: string[];
                /** @description Images delivered. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                images?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_images?: string[];
                /** @description Milliseconds until the first call upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                queue_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_queue_ms?: string[];
                /** @description Milliseconds until the first content. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                first_token_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_first_token_ms?: string[];
                /** @description Milliseconds until the end. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                total_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_total_ms?: string[];
                /** @description Calls upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                attempts?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_attempts?: string[];
                /** @description How many requests the row stands for. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                folded?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_folded?: string[];
                /** @description Requests from this moment on. Default: all that are kept. */
                from?: string;
                /** @description Requests before this moment; a day is meant to its end. Default: now. */
                to?: string;
                /** @description Default: by the time between `from` and `to`. */
                width?: "minute" | "hour" | "day";
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
            /** @description How many requests match, by time and outcome */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogHistogram"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVRequestsErrors: {
        parameters: {
            query?: {
                /** @description The tenant's name, now or at any time before. */
                tenant?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant?: string[];
                /** @description The tenant. */
                tenant_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant_id?: string[];
                /** @description The key's name, now or at any time before. */
                key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key?: string[];
                /** @description The key. */
                key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key_id?: string[];
                /** @description The group's name, now or at any time before. */
                group?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group?: string[];
                /** @description The group that the key was in. */
                group_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group_id?: string[];
                /** @description The `x-request-id` of the response. */
                request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_request_id?: string[];
                /** @description The path that was called. */
                endpoint?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_endpoint?: string[];
                /** @description The format that the client speaks. */
                client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_protocol?: string[];
                /** @description The format in which the upstream was asked. */
                upstream_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_protocol?: string[];
                /** @description The model, as requested or as served. */
                model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_model?: string[];
                /** @description The model that the client asked for. */
                requested_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_requested_model?: string[];
                /** @description The model that answered. */
                served_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_served_model?: string[];
                /** @description The channel that answered, or was asked last. */
                channel?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_channel?: string[];
                /** @description Whether the client asked for a stream. */
                stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream?: string[];
                /** @description A status such as `429`, a class such as `4xx` or a range such as `500..504`. */
                status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_status?: string[];
                /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
                outcome?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_outcome?: string[];
                /** @description The kind of the error. */
                error_kind?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error_kind?: string[];
                /** @description The message of the error. Any part of it, in capital or small letters. */
                error?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error?: string[];
                /** @description The status that the upstream gave with an error. */
                upstream_status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_status?: string[];
                /** @description Why the answer ended. */
                finish_reason?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_finish_reason?: string[];
                /** @description `upstream`, `partial`, `estimated`, `none` or `implausible`. */
                usage_source?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_usage_source?: string[];
                /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
                stream_end?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream_end?: string[];
                /** @description The upstream's id of the last call. */
                upstream_request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_request_id?: string[];
                /** @description The request's `idempotency-key`. */
                idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_idempotency_key?: string[];
                /** @description The user that the client named. */
                end_user?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_end_user?: string[];
                /** @description The conversation, or run of an agent. */
                session?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_session?: string[];
                /** @description A tag; several: all of them. */
                tag?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tag?: string[];
                /** @description The client's address, or a CIDR block such as `192.0.2.0/24`. */
                client_address?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_address?: string[];
                /** @description The client's `user-agent`. Any part of it, in capital or small letters. */
                user_agent?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_user_agent?: string[];
                /** @description What translation changed: a path, an action or a reason. Any part of it, in capital or small letters. */
                note?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_note?: string[];
                /** @description What the cost depends on beside tokens. Any part of it, in capital or small letters. */
                cost_fact?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_fact?: string[];
                /** @description The price of the row. */
                price_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_id?: string[];
                /** @description The multiplier of that price, as decimal. */
                price_multiplier?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_multiplier?: string[];
                /** @description Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends. */
                cost_usd?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_usd?: string[];
                /** @description Whether a part of the cost was not charged, because no more was held. */
                uncharged?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_uncharged?: string[];
                /** @description Input tokens at the full rate. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                input_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_input_tokens?: string[];
                /** @description Input tokens from the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_read_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_read_tokens?: string[];
                /** @description Input tokens written to the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_write_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_write_tokens?: string[];
                /** @description Output tokens, without reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                output_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_output_tokens?: string[];
                /** @description Output tokens of reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                reasoning_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_reasoning_tokens?: string[];
                /** @description Images delivered. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                images?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_images?: string[];
                /** @description Milliseconds until the first call upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                queue_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_queue_ms?: string[];
                /** @description Milliseconds until the first content. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                first_token_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_first_token_ms?: string[];
                /** @description Milliseconds until the end. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                total_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_total_ms?: string[];
                /** @description Calls upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                attempts?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_attempts?: string[];
                /** @description How many requests the row stands for. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                folded?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_folded?: string[];
                /** @description Requests from this moment on. Default: all that are kept. */
                from?: string;
                /** @description Requests before this moment; a day is meant to its end. Default: now. */
                to?: string;
                /** @description Groups in the answer. */
                limit?: number;
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
            /** @description The errors that match, by kind, endpoint, channel and status of the upstream */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogErrors"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVRequestsExport: {
        parameters: {
            query?: {
                /** @description The tenant's name, now or at any time before. */
                tenant?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant?: string[];
                /** @description The tenant. */
                tenant_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant_id?: string[];
                /** @description The key's name, now or at any time before. */
                key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key?: string[];
                /** @description The key. */
                key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key_id?: string[];
                /** @description The group's name, now or at any time before. */
                group?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group?: string[];
                /** @description The group that the key was in. */
                group_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group_id?: string[];
                /** @description The `x-request-id` of the response. */
                request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_request_id?: string[];
                /** @description The path that was called. */
                endpoint?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_endpoint?: string[];
                /** @description The format that the client speaks. */
                client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_protocol?: string[];
                /** @description The format in which the upstream was asked. */
                upstream_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_protocol?: string[];
                /** @description The model, as requested or as served. */
                model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_model?: string[];
                /** @description The model that the client asked for. */
                requested_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_requested_model?: string[];
                /** @description The model that answered. */
                served_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_served_model?: string[];
                /** @description The channel that answered, or was asked last. */
                channel?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_channel?: string[];
                /** @description Whether the client asked for a stream. */
                stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream?: string[];
                /** @description A status such as `429`, a class such as `4xx` or a range such as `500..504`. */
                status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_status?: string[];
                /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
                outcome?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_outcome?: string[];
                /** @description The kind of the error. */
                error_kind?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error_kind?: string[];
                /** @description The message of the error. Any part of it, in capital or small letters. */
                error?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error?: string[];
                /** @description The status that the upstream gave with an error. */
                upstream_status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_status?: string[];
                /** @description Why the answer ended. */
                finish_reason?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_finish_reason?: string[];
                /** @description `upstream`, `partial`, `estimated`, `none` or `implausible`. */
                usage_source?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_usage_source?: string[];
                /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
                stream_end?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream_end?: string[];
                /** @description The upstream's id of the last call. */
                upstream_request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_request_id?: string[];
                /** @description The request's `idempotency-key`. */
                idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_idempotency_key?: string[];
                /** @description The user that the client named. */
                end_user?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_end_user?: string[];
                /** @description The conversation, or run of an agent. */
                session?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_session?: string[];
                /** @description A tag; several: all of them. */
                tag?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tag?: string[];
                /** @description The client's address, or a CIDR block such as `192.0.2.0/24`. */
                client_address?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_address?: string[];
                /** @description The client's `user-agent`. Any part of it, in capital or small letters. */
                user_agent?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_user_agent?: string[];
                /** @description What translation changed: a path, an action or a reason. Any part of it, in capital or small letters. */
                note?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_note?: string[];
                /** @description What the cost depends on beside tokens. Any part of it, in capital or small letters. */
                cost_fact?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_fact?: string[];
                /** @description The price of the row. */
                price_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_id?: string[];
                /** @description The multiplier of that price, as decimal. */
                price_multiplier?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_multiplier?: string[];
                /** @description Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends. */
                cost_usd?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_usd?: string[];
                /** @description Whether a part of the cost was not charged, because no more was held. */
                uncharged?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_uncharged?: string[];
                /** @description Input tokens at the full rate. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                input_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_input_tokens?: string[];
                /** @description Input tokens from the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_read_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_read_tokens?: string[];
                /** @description Input tokens written to the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_write_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_write_tokens?: string[];
                /** @description Output tokens, without reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                output_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_output_tokens?: string[];
                /** @description Output tokens of reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                reasoning_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_reasoning_tokens?: string[];
                /** @description Images delivered. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                images?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_images?: string[];
                /** @description Milliseconds until the first call upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                queue_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_queue_ms?: string[];
                /** @description Milliseconds until the first content. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                first_token_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_first_token_ms?: string[];
                /** @description Milliseconds until the end. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                total_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_total_ms?: string[];
                /** @description Calls upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                attempts?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_attempts?: string[];
                /** @description How many requests the row stands for. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                folded?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_folded?: string[];
                /** @description Requests from this moment on. Default: all that are kept. */
                from?: string;
                /** @description Requests before this moment; a day is meant to its end. Default: now. */
                to?: string;
                /** @description The format of the file. */
                format?: "csv" | "ndjson" | "parquet";
                /** @description The columns of the file in their order, with commas between them. Default: those of the list. They are: id, created_at, tenant, key, group, tenant_id, key_id, group_id, endpoint, client_protocol, upstream_protocol, requested_model, served_model, channel, stream, end_user, session, tags, status, outcome, error_kind, error_message, error_upstream_status, finish_reason, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, images, usage_source, stream_end, cost_nano, charged_nano, queue_ms, first_token_ms, total_ms, attempt_count, notes, upstream_request_id, folded, client_address, user_agent, idempotency_key, price_id, price_multiplier, cost_facts. */
                columns?: string;
                sort?: "-created_at" | "created_at";
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
            /** @description The requests that match, as CSV, NDJSON or Parquet */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVRequestsTail: {
        parameters: {
            query?: {
                /** @description The tenant's name, now or at any time before. */
                tenant?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant?: string[];
                /** @description The tenant. */
                tenant_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tenant_id?: string[];
                /** @description The key's name, now or at any time before. */
                key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key?: string[];
                /** @description The key. */
                key_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_key_id?: string[];
                /** @description The group's name, now or at any time before. */
                group?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group?: string[];
                /** @description The group that the key was in. */
                group_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_group_id?: string[];
                /** @description The `x-request-id` of the response. */
                request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_request_id?: string[];
                /** @description The path that was called. */
                endpoint?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_endpoint?: string[];
                /** @description The format that the client speaks. */
                client_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_protocol?: string[];
                /** @description The format in which the upstream was asked. */
                upstream_protocol?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_protocol?: string[];
                /** @description The model, as requested or as served. */
                model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_model?: string[];
                /** @description The model that the client asked for. */
                requested_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_requested_model?: string[];
                /** @description The model that answered. */
                served_model?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_served_model?: string[];
                /** @description The channel that answered, or was asked last. */
                channel?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_channel?: string[];
                /** @description Whether the client asked for a stream. */
                stream?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream?: string[];
                /** @description A status such as `429`, a class such as `4xx` or a range such as `500..504`. */
                status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_status?: string[];
                /** @description `succeeded`, `refused`, `failed`, `cancelled` or `orphaned`. */
                outcome?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_outcome?: string[];
                /** @description The kind of the error. */
                error_kind?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error_kind?: string[];
                /** @description The message of the error. Any part of it, in capital or small letters. */
                error?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_error?: string[];
                /** @description The status that the upstream gave with an error. */
                upstream_status?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_status?: string[];
                /** @description Why the answer ended. */
                finish_reason?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_finish_reason?: string[];
                /** @description `upstream`, `partial`, `estimated`, `none` or `implausible`. */
                usage_source?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_usage_source?: string[];
                /** @description `complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`. */
                stream_end?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_stream_end?: string[];
                /** @description The upstream's id of the last call. */
                upstream_request_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_upstream_request_id?: string[];
                /** @description The request's `idempotency-key`. */
                idempotency_key?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_idempotency_key?: string[];
                /** @description The user that the client named. */
                end_user?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_end_user?: string[];
                /** @description The conversation, or run of an agent. */
                session?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_session?: string[];
                /** @description A tag; several: all of them. */
                tag?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_tag?: string[];
                /** @description The client's address, or a CIDR block such as `192.0.2.0/24`. */
                client_address?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_client_address?: string[];
                /** @description The client's `user-agent`. Any part of it, in capital or small letters. */
                user_agent?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_user_agent?: string[];
                /** @description What translation changed: a path, an action or a reason. Any part of it, in capital or small letters. */
                note?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_note?: string[];
                /** @description What the cost depends on beside tokens. Any part of it, in capital or small letters. */
                cost_fact?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_fact?: string[];
                /** @description The price of the row. */
                price_id?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_id?: string[];
                /** @description The multiplier of that price, as decimal. */
                price_multiplier?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_price_multiplier?: string[];
                /** @description Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends. */
                cost_usd?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cost_usd?: string[];
                /** @description Whether a part of the cost was not charged, because no more was held. */
                uncharged?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_uncharged?: string[];
                /** @description Input tokens at the full rate. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                input_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_input_tokens?: string[];
                /** @description Input tokens from the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_read_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_read_tokens?: string[];
                /** @description Input tokens written to the cache. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                cache_write_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_cache_write_tokens?: string[];
                /** @description Output tokens, without reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                output_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_output_tokens?: string[];
                /** @description Output tokens of reasoning. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                reasoning_tokens?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_reasoning_tokens?: string[];
                /** @description Images delivered. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                images?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_images?: string[];
                /** @description Milliseconds until the first call upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                queue_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_queue_ms?: string[];
                /** @description Milliseconds until the first content. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                first_token_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_first_token_ms?: string[];
                /** @description Milliseconds until the end. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                total_ms?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_total_ms?: string[];
                /** @description Calls upstream. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                attempts?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_attempts?: string[];
                /** @description How many requests the row stands for. A number, or a range such as `100..500`, `100..` or `..500`, with both its ends. */
                folded?: string[];
                /** @description Without the rows that the filter without `not_` shows. */
                not_folded?: string[];
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
            /** @description New rows of the usage log, as they come */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["LogRow"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVRequestsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description The `x-request-id` of its response. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One request with body, attempts, entries, and the command that sends it again */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogDetail"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVRequestsByIdTranslation: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                /** @description The `x-request-id` of its response. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What would be sent upstream today for the kept body of a request */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranslationMadeAnew"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVPlayground: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlaygroundRequest"];
            };
        };
        responses: {
            /** @description Make a request under a key, and see what the client and the channel get */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["PlaygroundEvent"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVViews: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "created_at" | "-created_at";
                page?: string;
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
            /** @description Your saved views, and those that others share with you */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedViewList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVViews: {
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
                "application/json": components["schemas"]["NewSavedView"];
            };
        };
        responses: {
            /** @description Save a view */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVViewsById: {
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
            /** @description A saved view */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVViewsById: {
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
            /** @description Delete a saved view of yours */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVViewsById: {
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
                "application/json": components["schemas"]["SavedViewChanges"];
            };
        };
        responses: {
            /** @description Change a saved view of yours */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
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
                /** @description Of one line. */
                id?: string;
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
    getAdminVSession: {
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
            /** @description Who calls, and what the caller may do */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInRequest"];
            };
        };
        responses: {
            /** @description Sign in */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sign out */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ended"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVSessions: {
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
            /** @description Where the user who calls is signed in */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenSessions"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVSessionsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End a session of the user who calls */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ended"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVAccount: {
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
            /** @description The user who calls: whether there is a password, and a second factor */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description Change the own password */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Confirmation"];
            };
        };
        responses: {
            /** @description Begin to set up a second factor */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactor"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVSecondFactorConfirm: {
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
                "application/json": components["schemas"]["SecondFactorCode"];
            };
        };
        responses: {
            /** @description Show a code of the app: from now on each sign-in asks for one */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVSecondFactorDisable: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Confirmation"];
            };
        };
        responses: {
            /** @description Take the own second factor away */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVSignIn: {
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
            /** @description How one can sign in here */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInMethods"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVOidcStart: {
        parameters: {
            query?: {
                /** @description The path of this server that the browser comes back to. */
                return_to?: string;
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
            /** @description Begin a single sign-on: leads the browser to the issuer */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVOidcCallback: {
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
            /** @description The end of a single sign-on: the issuer leads the browser here */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVUsers: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                sort?: "email";
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
            /** @description Users, by e-mail address */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVUsersById: {
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
            /** @description A user */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVUsersById: {
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
            /** @description Delete a user, with its sessions and API tokens */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    patchAdminVUsersById: {
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
                "application/json": components["schemas"]["UserChange"];
            };
        };
        responses: {
            /** @description Change the role or the tenant of a user, or disable it */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVUsersByIdResetLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Make a link by which a user sets a new password */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeLink"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVUsersByIdSecondFactor: {
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
            /** @description Take the second factor of a user away, who has lost it */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVUsersByIdSessions: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End all sessions of a user */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ended"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVInvitations: {
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
            /** @description Invitations and resets that nobody has used yet */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LinkList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVInvitations: {
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
                "application/json": components["schemas"]["InvitationRequest"];
            };
        };
        responses: {
            /** @description Invite a user */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeLink"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVInvitationsById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Take back an invitation or a reset */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVLinksShow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShowLinkRequest"];
            };
        };
        responses: {
            /** @description What a link is for */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenLink"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVLinksUse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UseLinkRequest"];
            };
        };
        responses: {
            /** @description Use a link: set the password */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVLinksByToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that the client knows: where the answer still has it, it is 304 without a body. */
                "if-none-match"?: components["parameters"]["if-none-match"];
            };
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a link is for, as earlier releases ask it */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenLink"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVLinksByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedeemRequest"];
            };
        };
        responses: {
            /** @description Use a link, as earlier releases do */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVApiTokens: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                sort?: "-created_at";
                user_id?: string;
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
            /** @description API tokens of the caller; for readers of users: of all */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiTokenList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVApiTokens: {
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
                "application/json": components["schemas"]["ApiTokenRequest"];
            };
        };
        responses: {
            /** @description Make an API token */
            201: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeApiToken"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteAdminVApiTokensById: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke an API token */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiToken"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVErasures: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                sort?: "-created_at";
                tenant_id?: string;
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
            /** @description The erasures, the newest first */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErasureList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVErasures: {
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
                "application/json": components["schemas"]["ErasureRequest"];
            };
        };
        responses: {
            /** @description Remove the content or the rows of a tenant, or of an end user */
            202: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVErasuresById: {
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
            /** @description An erasure, with its progress and its report */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVErasuresByIdCancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Stop an erasure */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAdminVArchive: {
        parameters: {
            query?: {
                /** @description Rows on a page. */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
                /** @description A minus before the name turns the order round. */
                sort?: "-day" | "day";
                table?: "requests" | "attempts" | "request_payloads" | "request_answers";
                state?: "writing" | "verified" | "dropped" | "abandoned";
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
            /** @description The days of the usage log that are archived, and their files */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchiveState"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postAdminVArchive: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeat with the same key gets the answer of the first request. 1 to 255 visible ASCII characters. */
                "idempotency-key"?: components["parameters"]["idempotency-key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Archive now: a worker begins within a minute */
            200: {
                headers: {
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchiveDue"];
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
                kind?: "budget" | "error_rate" | "latency" | "uncharged" | "ledger_lag" | "new_network" | "channel_down";
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
                kind?: "budget" | "error_rate" | "latency" | "uncharged" | "ledger_lag" | "new_network" | "channel_down";
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
