-- Close a breaker: anybody may call the channel again.
CREATE OR REPLACE FUNCTION close_breaker(channel uuid) RETURNS void LANGUAGE sql AS $$
  DELETE FROM channel_breakers WHERE channel_id = channel;
  SELECT pg_notify('tollgate_breakers', channel::text);
$$;
