CREATE TABLE "key_uses" (
	"key_id" uuid PRIMARY KEY NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"last_network" text NOT NULL,
	"new_network" text,
	"new_network_at" timestamp (3) with time zone
);--> statement-breakpoint
INSERT INTO "key_uses" ("key_id", "last_used_at", "last_network")
SELECT DISTINCT ON (n.key_id) n.key_id, n.last_request_at, n.network FROM "key_networks" n
ORDER BY n.key_id, n.last_request_at DESC;--> statement-breakpoint
UPDATE "key_uses" u SET "new_network" = n.network, "new_network_at" = n.first_request_at
FROM (SELECT DISTINCT ON (key_id) key_id, network, first_request_at FROM "key_networks" ORDER BY key_id, first_request_at DESC) n
WHERE n.key_id = u.key_id AND EXISTS (
	SELECT 1 FROM "key_networks" o WHERE o.key_id = n.key_id AND o.first_request_at < n.first_request_at
);
