ALTER TABLE "tenants" ADD COLUMN "budget_day_nano" bigint;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "budget_month_nano" bigint;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "budget_total_nano" bigint;--> statement-breakpoint

-- The budgets in force, by their owner.
CREATE OR REPLACE VIEW budgets (owner_id, owner, period, limit_nano) AS
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
  WHERE b.limit_nano IS NOT NULL
  UNION ALL
  SELECT t.id, 'tenant', b.period, b.limit_nano
  FROM tenants t CROSS JOIN LATERAL (
    VALUES ('day', t.budget_day_nano), ('month', t.budget_month_nano), ('total', t.budget_total_nano)
  ) AS b (period, limit_nano)
  WHERE b.limit_nano IS NOT NULL;--> statement-breakpoint

-- Its real body is in src/db/functions, which a start applies next.
CREATE CONSTRAINT TRIGGER count_new_budgets AFTER UPDATE OF "budget_day_nano", "budget_month_nano", "budget_total_nano" ON "tenants"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.budget_day_nano IS NULL AND NEW.budget_day_nano IS NOT NULL
    OR OLD.budget_month_nano IS NULL AND NEW.budget_month_nano IS NOT NULL
    OR OLD.budget_total_nano IS NULL AND NEW.budget_total_nano IS NOT NULL)
  EXECUTE FUNCTION count_new_budgets();
