-- The millisecond inside a uuidv7. A row with such an id has it as created_at.
CREATE OR REPLACE FUNCTION uuid_moment(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;
