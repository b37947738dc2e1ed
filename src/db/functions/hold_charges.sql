-- Wait for running charges, and keep new ones waiting until this transaction ends. The first of all locks on money.
CREATE OR REPLACE FUNCTION hold_charges() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7023915)
$$;
