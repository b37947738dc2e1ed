-- Ask for a channel's turn. 0: the job has it; more: ask again after so many milliseconds; -1: the lease is lost.
CREATE OR REPLACE FUNCTION take_image_turn(job uuid, held_fence integer, channel uuid, concurrency integer, per_minute integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  apart interval := interval '1 minute' / per_minute;
  moment timestamptz := clock_timestamp();
  next_moment timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(channel::text, 7023914));
  IF concurrency IS NOT NULL AND concurrency <= (
    SELECT count(*) FROM jobs
    WHERE channel_id = channel AND state = 'running' AND leased_until > moment AND id <> job
  ) THEN RETURN 500; END IF;
  IF per_minute IS NOT NULL THEN
    SELECT greatest(next_at, moment) INTO next_moment FROM image_channel_turns WHERE channel_id = channel;
    next_moment := coalesce(next_moment, moment);
    -- One minute's images may begin at once, the others evenly after them.
    IF next_moment - moment > interval '1 minute' - apart THEN
      RETURN ceil(extract(epoch FROM next_moment - moment - (interval '1 minute' - apart)) * 1000)::integer;
    END IF;
  END IF;
  UPDATE jobs SET channel_id = channel WHERE id = job AND fence = held_fence AND state = 'running';
  IF NOT FOUND THEN RETURN -1; END IF;
  IF per_minute IS NOT NULL THEN
    INSERT INTO image_channel_turns (channel_id, next_at) VALUES (channel, next_moment + apart)
    ON CONFLICT (channel_id) DO UPDATE SET next_at = excluded.next_at;
  END IF;
  RETURN 0;
END $$;
