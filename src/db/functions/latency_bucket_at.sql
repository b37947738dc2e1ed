-- The bucket below whose end so large a part of a histogram lies; -1: it counts nothing.
CREATE OR REPLACE FUNCTION latency_bucket_at(histogram numeric, fraction double precision) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(min(p.bucket) FILTER (WHERE p.passed >= ceil(p.counted * fraction)), -1)
  FROM (
    SELECT c.bucket, sum(c.count) OVER (ORDER BY c.bucket) AS passed, sum(c.count) OVER () AS counted
    FROM (
      SELECT b AS bucket, substr(h.digits, length(h.digits) - 12 * (b + 1) + 1, 12)::bigint AS count
      FROM (SELECT lpad(histogram::text, (length(histogram::text) + 11) / 12 * 12, '0') AS digits) AS h,
        generate_series(0, length(h.digits) / 12 - 1) AS b
    ) AS c WHERE c.count > 0
  ) AS p
$$;
