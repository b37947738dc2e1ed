-- Make the missing daily partitions, in one transaction. It stops at the first lock that is not free soon: the locks that it
-- has by then keep writers waiting. Processes of the former release call it; others call make_partition for each.
CREATE OR REPLACE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  missing record;
  made integer := 0;
BEGIN
  FOR missing IN SELECT m.parent, m.day FROM missing_partitions(days_ahead) AS m LOOP
    BEGIN
      IF make_partition(missing.parent, missing.day) THEN made := made + 1; END IF;
    EXCEPTION WHEN lock_not_available THEN
      RETURN made;
    END;
  END LOOP;
  RETURN made;
END $$;
