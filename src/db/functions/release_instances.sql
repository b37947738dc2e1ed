-- Release all reservations of dead processes, in one statement: one process after the other would lock accounts out of
-- order.
CREATE OR REPLACE FUNCTION release_instances(instances uuid[]) RETURNS void LANGUAGE sql AS $$
  SELECT release_reservations(coalesce(array_agg(v.request_id), '{}'), instances)
  FROM reservations v WHERE v.instance_id = ANY (instances)
$$;
