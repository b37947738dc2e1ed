-- Release reservations whose request has its row already: they were committed after the request had given up waiting.
CREATE OR REPLACE FUNCTION sweep_reservations() RETURNS void LANGUAGE sql AS $$
  SELECT release_reservations(coalesce(array_agg(v.request_id), '{}'))
  FROM reservations v
  JOIN requests r ON r.id = v.request_id AND r.created_at = uuid_moment(v.request_id)
  WHERE v.created_at < now() - interval '10 seconds'
$$;
