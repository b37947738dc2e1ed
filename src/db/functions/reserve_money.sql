-- As try_reserve_money, but waits for all accounts and budgets. accept_job calls it.
CREATE OR REPLACE FUNCTION reserve_money(instance uuid, request_ids uuid[], account_ids uuid[], key_ids uuid[], group_ids uuid[],
  amounts bigint[])
RETURNS TABLE (request uuid, verdict text, pot text, left_nano bigint, free_nano bigint) LANGUAGE sql AS $$
  SELECT r.request, r.verdict, r.pot, r.left_nano, r.free_nano
  FROM try_reserve_money(instance, request_ids, account_ids, key_ids, group_ids, amounts, true) AS r
$$;
