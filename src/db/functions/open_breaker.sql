-- Open a breaker for `open_ms`. When several processes open it, the longest time counts.
CREATE OR REPLACE FUNCTION open_breaker(channel uuid, times integer, open_ms integer, why text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO channel_breakers AS b (channel_id, openings, open_until, probe_at, reason, changed_at)
  SELECT channel, times, t, t, why, clock_timestamp() FROM (SELECT clock_timestamp() + open_ms * interval '1 ms' AS t) AS opening
  ON CONFLICT (channel_id) DO UPDATE SET openings = greatest(b.openings, excluded.openings),
    open_until = greatest(b.open_until, excluded.open_until), probe_at = greatest(b.open_until, excluded.open_until),
    reason = excluded.reason, changed_at = excluded.changed_at;
  -- Last, and without waiting for locks: two calls that wait for each other's rows would deadlock.
  DELETE FROM channel_breakers WHERE channel_id IN (
    SELECT channel_id FROM channel_breakers
    WHERE changed_at < clock_timestamp() - interval '1 day' AND channel_id <> channel FOR UPDATE SKIP LOCKED);
  SELECT pg_notify('tollgate_breakers', channel::text);
$$;
