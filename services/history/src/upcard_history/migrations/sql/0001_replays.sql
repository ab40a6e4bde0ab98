-- Replays: which ended rounds are still to be replayed, and what came of each that was. Views are no migrations: they
-- are made, and made anew, beside the log (`projections`).

CREATE SCHEMA history;

-- A round that ended, or was corrected, and was not replayed since. `position` is the last event to be looked at.
-- A worker claims a row for a while; when it dies, another one takes it after that.
CREATE TABLE history.replay_queue (
    position bigint NOT NULL,
    due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_until timestamptz NOT NULL DEFAULT '-infinity',
    tries integer NOT NULL DEFAULT 0,
    round text COLLATE "C" NOT NULL,
    CONSTRAINT replay_queue_pkey PRIMARY KEY (round),
    CONSTRAINT replay_queue_position_positive CHECK (position > 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX replay_queue_due_idx ON history.replay_queue (due_at);

-- What the latest replay of each round found.
CREATE TABLE history.replay_runs (
    position bigint NOT NULL,
    ran_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    took_ms bigint NOT NULL,
    round text COLLATE "C" NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    report jsonb NOT NULL,
    CONSTRAINT replay_runs_pkey PRIMARY KEY (round),
    CONSTRAINT replay_runs_outcome_known CHECK (outcome IN ('agreed', 'disagreed', 'unreadable'))
);

COMMENT ON COLUMN history.replay_runs.position IS 'Events 1 up to this one of the round were replayed.';

CREATE INDEX replay_runs_wrong_idx ON history.replay_runs (ran_at) WHERE outcome <> 'agreed';

CREATE FUNCTION history.grant_service(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA history TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON history.replay_queue TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON history.replay_runs TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION history.grant_service(name) FROM PUBLIC;
