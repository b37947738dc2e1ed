-- The keys and the group whose budgets a request of this key takes from: a sub-key takes from those of its parent too.
CREATE OR REPLACE FUNCTION budget_owners(key_id uuid, group_id uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  SELECT ARRAY[$1, $2] || ARRAY(SELECT k.parent_id FROM keys k WHERE k.id = $1 AND k.parent_id IS NOT NULL)
$$;
