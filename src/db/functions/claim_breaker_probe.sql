-- Ask for the right to try a channel. `claimed`: the caller tries it for `claim_ms`, or longer with hold_breaker_probe;
-- `held`: another process tries it, or it is too early; `closed`: anybody may call the channel.
CREATE OR REPLACE FUNCTION claim_breaker_probe(channel uuid, claim_ms integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  UPDATE channel_breakers SET probe_at = clock_timestamp() + claim_ms * interval '1 ms'
  WHERE channel_id = channel AND open_until <= clock_timestamp() AND probe_at <= clock_timestamp();
  IF FOUND THEN RETURN 'claimed'; END IF;
  RETURN CASE WHEN EXISTS (SELECT 1 FROM channel_breakers WHERE channel_id = channel) THEN 'held' ELSE 'closed' END;
END $$;
