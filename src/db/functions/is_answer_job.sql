-- Whether a job makes an answer in the background. All others make images.
CREATE OR REPLACE FUNCTION is_answer_job(job uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM background_answers WHERE job_id = job)
$$;
