-- Book what a tenant leaves in storage, for each table whose rows have tenant_id and bytes: a trigger after each row that comes or
-- changes, and after each statement that deletes rows, which calls them `gone`. Raises TG429 where a tenant would pass storage_quota.
CREATE OR REPLACE FUNCTION book_storage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  delta bigint;
  has bigint;
  most bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    -- In the order of the tenants, so that two sweeps do not wait for each other.
    PERFORM FROM tenant_storage s WHERE s.tenant_id IN (SELECT g.tenant_id FROM gone g) ORDER BY s.tenant_id FOR UPDATE;
    UPDATE tenant_storage s SET bytes = s.bytes - o.bytes
    FROM (SELECT g.tenant_id, sum(g.bytes) AS bytes FROM gone g GROUP BY 1) AS o WHERE s.tenant_id = o.tenant_id;
    RETURN NULL;
  END IF;
  delta := NEW.bytes;
  IF TG_OP = 'UPDATE' THEN delta := delta - OLD.bytes; END IF;
  IF delta = 0 OR NEW.tenant_id IS NULL THEN RETURN NULL; END IF;
  INSERT INTO tenant_storage AS s (tenant_id, bytes) VALUES (NEW.tenant_id, delta)
  ON CONFLICT (tenant_id) DO UPDATE SET bytes = s.bytes + delta RETURNING s.bytes INTO has;
  SELECT q.bytes_max INTO most FROM storage_quota q;
  IF delta > 0 AND has > most THEN
    RAISE EXCEPTION 'the tenant % would keep % bytes', NEW.tenant_id, has USING ERRCODE = 'TG429', DETAIL = most::text, TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;
