-- Release all reservations of one dead process.
CREATE OR REPLACE FUNCTION release_instance(instance uuid) RETURNS void LANGUAGE sql AS $$
  SELECT release_instances(ARRAY[instance])
$$;
