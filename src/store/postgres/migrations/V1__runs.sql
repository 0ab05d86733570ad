CREATE TABLE eval_job_runs (
    -- The name of its folder: time, job and id.
    folder text PRIMARY KEY,
    id text NOT NULL,
    job text NOT NULL,
    job_file text NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    verdict text NOT NULL,
    -- Runs of one digest were held alike.
    provenance_digest text NOT NULL,
    -- A journal is only appended to: a longer one is newer.
    journal_bytes bigint NOT NULL,
    -- The run as a list shows it, and its figures.
    listed json NOT NULL,
    figures json NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX eval_job_runs_of_job ON eval_job_runs (job, started_at);
CREATE TABLE eval_job_files (
    folder text NOT NULL REFERENCES eval_job_runs ON DELETE CASCADE,
    name text NOT NULL,
    place integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (folder, name, place)
);
