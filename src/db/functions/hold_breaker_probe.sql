-- Extend a claimed probe: the call still runs.
CREATE OR REPLACE FUNCTION hold_breaker_probe(channel uuid, claim_ms integer) RETURNS void LANGUAGE sql AS $$
  UPDATE channel_breakers SET probe_at = clock_timestamp() + claim_ms * interval '1 ms'
  WHERE channel_id = channel AND open_until <= clock_timestamp();
$$;
