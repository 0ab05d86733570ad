CREATE TABLE eval_job_baselines (
    name text PRIMARY KEY,
    -- The id of its run.
    run text NOT NULL,
    set_at timestamptz NOT NULL
);
