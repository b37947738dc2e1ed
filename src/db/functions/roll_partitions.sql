-- One pass over the partitions of the usage log, by one process at a time: both counts are 0 while another process makes one.
-- Processes of the former release call it.
CREATE OR REPLACE FUNCTION roll_partitions(days_ahead integer, keep_requests integer, keep_payloads integer, OUT made integer, OUT dropped integer)
LANGUAGE plpgsql AS $$
BEGIN
  made := 0;
  dropped := 0;
  IF NOT pg_try_advisory_xact_lock(7023912) THEN RETURN; END IF;
  made := ensure_partitions(days_ahead);
  dropped := drop_partitions('requests', keep_requests) + drop_partitions('request_tags', keep_requests)
    + drop_partitions('attempts', keep_requests) + drop_partitions('request_payloads', keep_payloads);
END $$;
