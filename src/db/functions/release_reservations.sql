-- Release reservations without a charge. `holders`: only those that these processes hold; NULL: all.
CREATE OR REPLACE FUNCTION release_reservations(requests uuid[], holders uuid[] DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
  SELECT settle_money(requests, '{}', '{}', '{}', '{}', '{}', holders)
$$;
