-- Make the rows of these periods that are missing.
CREATE OR REPLACE FUNCTION open_budget_periods(owners uuid[], periods text[], starts timestamptz[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO budget_periods (owner_id, period, starts_at)
  SELECT t.owner_id, t.period, t.starts_at
  FROM unnest(owners, periods, starts) AS t (owner_id, period, starts_at)
  WHERE NOT EXISTS (
    SELECT 1 FROM budget_periods p WHERE p.owner_id = t.owner_id AND p.period = t.period AND p.starts_at = t.starts_at
  )
  ORDER BY t.owner_id, t.period, t.starts_at
  ON CONFLICT DO NOTHING
$$;
