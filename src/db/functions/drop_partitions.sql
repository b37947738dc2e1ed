-- Drop the expired daily partitions of one table, in one transaction. It stops at the first lock that is not free soon, as
-- ensure_partitions does. Processes of the former release call it by roll_partitions.
CREATE OR REPLACE FUNCTION drop_partitions(parent text, keep_days integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  child text;
  dropped integer := 0;
BEGIN
  FOR child IN SELECT expired_partitions(parent, keep_days) LOOP
    BEGIN
      IF drop_partition(child) THEN dropped := dropped + 1; END IF;
    EXCEPTION WHEN lock_not_available THEN
      RETURN dropped;
    END;
  END LOOP;
  RETURN dropped;
END $$;
