-- Following a log, this database's own or another service's: how far each follower has come, what it could not apply,
-- and which projections stand here.

-- One row a follower, source and shard, locked by whoever applies events of that shard, up to the commit of their
-- effect. A page each, as `shard_heads`.
CREATE TABLE eventstore.positions (
    position bigint NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    epoch integer,
    parked integer NOT NULL DEFAULT 0,
    shard smallint NOT NULL,
    follower text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    hash bytea,
    recent bytea NOT NULL DEFAULT '',
    CONSTRAINT positions_pkey PRIMARY KEY (follower, source, shard),
    CONSTRAINT positions_shard_in_range CHECK (shard BETWEEN 0 AND 63),
    CONSTRAINT positions_position_not_negative CHECK (position >= 0),
    CONSTRAINT positions_names_size CHECK (
        char_length(follower) BETWEEN 1 AND 100 AND char_length(source) BETWEEN 1 AND 100
    ),
    CONSTRAINT positions_hash_size CHECK (octet_length(hash) = 32),
    CONSTRAINT positions_recent_size CHECK (octet_length(recent) <= 1024 AND octet_length(recent) % 8 = 0)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN eventstore.positions.source IS '`own`: the log of this database; else the name of a service.';
COMMENT ON COLUMN eventstore.positions.hash IS 'Of the event at the position; null where that was not wanted, so not seen.';
COMMENT ON COLUMN eventstore.positions.recent IS
    'The first 8 bytes of the hashes of the last events up to the position, at most 128, zeros where one is not known.';
COMMENT ON COLUMN eventstore.positions.parked IS 'How many streams of the shard are parked.';
COMMENT ON COLUMN eventstore.positions.epoch IS 'The source''s epoch in which the position was last checked.';

-- A stream whose event could not be applied. Its later events wait in `parked_events`; other streams go on.
CREATE TABLE eventstore.parked_streams (
    failed_position bigint NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    failed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    retry_requested_at timestamptz,
    dead_letter_sent_at timestamptz,
    attempts integer NOT NULL,
    shard smallint NOT NULL,
    follower text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    error text NOT NULL,
    CONSTRAINT parked_streams_pkey PRIMARY KEY (follower, source, stream),
    CONSTRAINT parked_streams_shard_in_range CHECK (shard BETWEEN 0 AND 63),
    CONSTRAINT parked_streams_attempts_positive CHECK (attempts > 0),
    CONSTRAINT parked_streams_reason_size CHECK (char_length(reason) BETWEEN 1 AND 100),
    CONSTRAINT parked_streams_error_size CHECK (char_length(error) <= 2000)
);

COMMENT ON COLUMN eventstore.parked_streams.failed_position IS 'The stream position of the event that failed.';

CREATE INDEX parked_streams_retry_idx ON eventstore.parked_streams (follower, source, retry_requested_at)
    WHERE retry_requested_at IS NOT NULL;
CREATE INDEX parked_streams_dead_letter_idx ON eventstore.parked_streams (follower, source, failed_at)
    WHERE dead_letter_sent_at IS NULL;

-- The event that failed and the later ones of its stream, whole, since another service's log is not here.
CREATE TABLE eventstore.parked_events (
    stream_position bigint NOT NULL,
    shard_position bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    event_id uuid NOT NULL,
    shard smallint NOT NULL,
    follower text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    prev_hash bytea NOT NULL,
    content_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT parked_events_pkey PRIMARY KEY (follower, source, stream, stream_position),
    CONSTRAINT parked_events_stream_is_parked FOREIGN KEY (follower, source, stream)
        REFERENCES eventstore.parked_streams (follower, source, stream) ON UPDATE CASCADE
);

-- What was left out on purpose, by whom and why.
CREATE TABLE eventstore.skipped_events (
    id bigint GENERATED ALWAYS AS IDENTITY,
    skipped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    stream_position bigint NOT NULL,
    shard_position bigint NOT NULL,
    event_id uuid NOT NULL,
    shard smallint NOT NULL,
    follower text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    error text NOT NULL,
    skipped_by text NOT NULL,
    why text NOT NULL,
    CONSTRAINT skipped_events_pkey PRIMARY KEY (id),
    CONSTRAINT skipped_events_by_size CHECK (char_length(skipped_by) BETWEEN 1 AND 200),
    CONSTRAINT skipped_events_why_size CHECK (char_length(why) BETWEEN 1 AND 1000)
);

-- Followers that must not go on before a person has looked: `failed` (an event, and the policy is to stop) holds for
-- all shards of the follower, `forked` for one.
CREATE TABLE eventstore.stopped_followers (
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    shard_position bigint NOT NULL,
    stream_position bigint,
    event_id uuid,
    attempts integer NOT NULL DEFAULT 0,
    shard smallint NOT NULL,
    follower text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    stream text COLLATE "C",
    type text COLLATE "C",
    hash bytea,
    reason text NOT NULL,
    error text NOT NULL,
    CONSTRAINT stopped_followers_pkey PRIMARY KEY (follower, source, shard),
    CONSTRAINT stopped_followers_shard_in_range CHECK (shard BETWEEN 0 AND 63),
    CONSTRAINT stopped_followers_kind_known CHECK (kind IN ('failed', 'forked')),
    CONSTRAINT stopped_followers_failed_event_named CHECK (
        kind <> 'failed' OR (stream IS NOT NULL AND stream_position IS NOT NULL AND event_id IS NOT NULL
                             AND type IS NOT NULL AND hash IS NOT NULL)
    ),
    CONSTRAINT stopped_followers_reason_size CHECK (char_length(reason) BETWEEN 1 AND 100),
    CONSTRAINT stopped_followers_error_size CHECK (char_length(error) <= 2000)
);

-- The projections whose tables are in this database, one that is being rebuilt under a name of its own included.
CREATE TABLE eventstore.projections (
    built_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    CONSTRAINT projections_pkey PRIMARY KEY (name),
    CONSTRAINT projections_version_positive CHECK (version > 0)
);

-- Rights. A follower is the service itself; what was skipped stays noted.
CREATE FUNCTION eventstore.grant_following(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON eventstore.positions, eventstore.parked_streams,'
                   ' eventstore.parked_events, eventstore.stopped_followers, eventstore.projections TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON eventstore.skipped_events TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION eventstore.grant_following(name) FROM PUBLIC;
