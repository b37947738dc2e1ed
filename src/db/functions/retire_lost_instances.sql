-- As retire_silent_instances, after a day. Processes of the former release call it.
CREATE OR REPLACE FUNCTION retire_lost_instances(caller uuid) RETURNS SETOF uuid LANGUAGE sql AS $$
  SELECT retire_silent_instances(caller, 86400000)
$$;
