-- The log: head rows, events, their private parts. Forward only: a published file never changes.

CREATE SCHEMA eventstore;

-- A period is a month as a number, yyyymm. Events carry the period that was current when they were appended.
CREATE TABLE eventstore.periods (
    period integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    detached_at timestamptz,
    CONSTRAINT periods_pkey PRIMARY KEY (period),
    CONSTRAINT periods_is_a_month CHECK (period / 100 BETWEEN 2000 AND 9999 AND period % 100 BETWEEN 1 AND 12)
);

-- One row a shard, locked by every append to it up to the commit. A page each, so that updates stay on it.
CREATE TABLE eventstore.shard_heads (
    position bigint NOT NULL DEFAULT 0,
    period integer NOT NULL DEFAULT 0,
    shard smallint NOT NULL,
    CONSTRAINT shard_heads_pkey PRIMARY KEY (shard),
    CONSTRAINT shard_heads_shard_in_range CHECK (shard BETWEEN 0 AND 63),
    CONSTRAINT shard_heads_position_not_negative CHECK (position >= 0)
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

INSERT INTO eventstore.shard_heads (shard) SELECT generate_series(0, 63);

-- Where each shard's events of a period begin: so that reading from a position opens one partition, not all.
CREATE TABLE eventstore.shard_periods (
    first_position bigint NOT NULL,
    period integer NOT NULL,
    shard smallint NOT NULL,
    CONSTRAINT shard_periods_pkey PRIMARY KEY (shard, period)
);

-- One row a stream. Uniqueness of stream positions rests on it, under its shard's lock.
CREATE TABLE eventstore.stream_heads (
    position bigint NOT NULL,
    first_period integer NOT NULL,
    period integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT stream_heads_pkey PRIMARY KEY (stream),
    CONSTRAINT stream_heads_position_positive CHECK (position > 0)
) WITH (fillfactor = 80);

CREATE TABLE eventstore.events (
    stream_position bigint NOT NULL,
    shard_position bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    event_id uuid NOT NULL,
    period integer NOT NULL,
    shard smallint NOT NULL,
    stream text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    prev_hash bytea NOT NULL,
    content_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (shard, period, shard_position),
    CONSTRAINT events_stream_key UNIQUE (stream, period, stream_position),
    CONSTRAINT events_event_id_key UNIQUE (event_id, period),
    CONSTRAINT events_content_size CHECK (octet_length(content) BETWEEN 1 AND 1000000)
) PARTITION BY RANGE (period);

COMMENT ON COLUMN eventstore.events.recorded_at IS
    'This database''s clock when the append held its shards. The content has its own, which is the owner''s.';

-- What only some may read. Encrypted before it comes here; the key is never in the database.
CREATE TABLE eventstore.private_parts (
    stream_position bigint NOT NULL,
    period integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    ciphertext bytea NOT NULL,
    CONSTRAINT private_parts_pkey PRIMARY KEY (stream, period, stream_position),
    CONSTRAINT private_parts_size CHECK (octet_length(ciphertext) BETWEEN 28 AND 70000)
) PARTITION BY RANGE (period);
