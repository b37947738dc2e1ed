-- Breakers of channels, shared by all processes. A row: the channel failed, and is passed over until `open_until`; then
-- one process at a time may try it, whoever pushes `probe_at` ahead. No row: it is asked like any other. All moments are
-- of the database's clock; processes are told how long something lasts, never until when.

-- Open a breaker for so long. Told by several processes, the longest counts.
CREATE FUNCTION open_breaker(channel uuid, times integer, open_ms integer, why text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO channel_breakers AS b (channel_id, openings, open_until, probe_at, reason, changed_at)
  SELECT channel, times, t, t, why, clock_timestamp() FROM (SELECT clock_timestamp() + open_ms * interval '1 ms' AS t)
  ON CONFLICT (channel_id) DO UPDATE SET openings = greatest(b.openings, excluded.openings),
    open_until = greatest(b.open_until, excluded.open_until), probe_at = greatest(b.open_until, excluded.open_until),
    reason = excluded.reason, changed_at = excluded.changed_at;
  -- Last, and without waiting for anybody: two that wait for each other's rows would be a deadlock.
  DELETE FROM channel_breakers WHERE channel_id IN (
    SELECT channel_id FROM channel_breakers
    WHERE changed_at < clock_timestamp() - interval '1 day' AND channel_id <> channel FOR UPDATE SKIP LOCKED);
  SELECT pg_notify('tollgate_breakers', channel::text);
$$;--> statement-breakpoint

CREATE FUNCTION close_breaker(channel uuid) RETURNS void LANGUAGE sql AS $$
  DELETE FROM channel_breakers WHERE channel_id = channel;
  SELECT pg_notify('tollgate_breakers', channel::text);
$$;--> statement-breakpoint

-- Ask to be the one that tries the channel: `claimed`, for so long, unless it is held on to with hold_breaker_probe;
-- `held`, another does, or it is too early; `closed`, it may be asked like any other.
CREATE FUNCTION claim_breaker_probe(channel uuid, claim_ms integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  UPDATE channel_breakers SET probe_at = clock_timestamp() + claim_ms * interval '1 ms'
  WHERE channel_id = channel AND open_until <= clock_timestamp() AND probe_at <= clock_timestamp();
  IF FOUND THEN RETURN 'claimed'; END IF;
  RETURN CASE WHEN EXISTS (SELECT 1 FROM channel_breakers WHERE channel_id = channel) THEN 'held' ELSE 'closed' END;
END $$;--> statement-breakpoint

-- The probe still runs.
CREATE FUNCTION hold_breaker_probe(channel uuid, claim_ms integer) RETURNS void LANGUAGE sql AS $$
  UPDATE channel_breakers SET probe_at = clock_timestamp() + claim_ms * interval '1 ms'
  WHERE channel_id = channel AND open_until <= clock_timestamp();
$$;
