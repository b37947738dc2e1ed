DROP INDEX "requests_tenant";--> statement-breakpoint
CREATE INDEX "requests_model" ON "requests" USING btree ("tenant_id","requested_model","created_at");--> statement-breakpoint
CREATE INDEX "requests_served_model" ON "requests" USING btree ("tenant_id","served_model","created_at") WHERE "requests"."served_model" <> "requests"."requested_model";--> statement-breakpoint
CREATE INDEX "requests_unusual" ON "requests" USING btree ("tenant_id","created_at","status","outcome","requested_model","served_model","key_id") WHERE "requests"."outcome" <> 'succeeded' or "requests"."status" <> 200;--> statement-breakpoint
CREATE INDEX "requests_endpoint" ON "requests" USING btree ("tenant_id","endpoint","created_at") WHERE "requests"."endpoint" <> '/v1/chat/completions';--> statement-breakpoint
CREATE INDEX "requests_tenant" ON "requests" USING btree ("tenant_id","created_at","key_id");