-- One Merkle tree (RFC 9162) over all events of this database's log. A leaf is an event's `hash`, which seals its
-- stream, its place there, its content and all before it; `runs` says which event is which leaf.

CREATE SCHEMA transparency;

-- One row: the tree as it stands, by the perfect subtrees that it consists of. Locked by whoever adds to it.
CREATE TABLE transparency.tree (
    size bigint NOT NULL,
    only_one boolean NOT NULL DEFAULT true,
    frontier bytea NOT NULL,
    CONSTRAINT tree_pkey PRIMARY KEY (only_one),
    CONSTRAINT tree_is_one CHECK (only_one),
    CONSTRAINT tree_frontier_fits CHECK (octet_length(frontier) = 32 * bit_count(size::bit(64)))
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

INSERT INTO transparency.tree (size, frontier) VALUES (0, '');

-- Up to where each shard is in the tree.
CREATE TABLE transparency.shard_positions (
    position bigint NOT NULL DEFAULT 0,
    shard smallint NOT NULL,
    CONSTRAINT shard_positions_pkey PRIMARY KEY (shard),
    CONSTRAINT shard_positions_shard_in_range CHECK (shard BETWEEN 0 AND 63),
    CONSTRAINT shard_positions_not_negative CHECK (position >= 0)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

INSERT INTO transparency.shard_positions (shard) SELECT generate_series(0, 63);

-- The order of the leaves: `events` of a shard from a position on are the leaves from `first_index` on.
-- Only ever added to.
CREATE TABLE transparency.runs (
    first_index bigint NOT NULL,
    first_position bigint NOT NULL,
    events integer NOT NULL,
    shard smallint NOT NULL,
    CONSTRAINT runs_pkey PRIMARY KEY (first_index),
    CONSTRAINT runs_once UNIQUE (shard, first_position),
    CONSTRAINT runs_begin CHECK (first_index >= 0 AND first_position >= 1),
    CONSTRAINT runs_have_events CHECK (events >= 1),
    CONSTRAINT runs_shard_in_range CHECK (shard BETWEEN 0 AND 63)
);

-- Hashes of perfect subtrees of 256**level leaves, 256 to a row; the last one of a level fills up.
CREATE TABLE transparency.tiles (
    index bigint NOT NULL,
    level smallint NOT NULL,
    hashes bytea NOT NULL,
    CONSTRAINT tiles_pkey PRIMARY KEY (level, index),
    CONSTRAINT tiles_level_in_range CHECK (level BETWEEN 0 AND 7),
    CONSTRAINT tiles_hashes_fit CHECK (octet_length(hashes) BETWEEN 32 AND 8192 AND octet_length(hashes) % 32 = 0)
);
ALTER TABLE transparency.tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- The tree at a size. Committed before it is signed: since a size is there once, two chainers never sign two roots.
-- Only ever added to, like all that follows.
CREATE TABLE transparency.checkpoints (
    size bigint NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    root bytea NOT NULL,
    CONSTRAINT checkpoints_pkey PRIMARY KEY (size),
    CONSTRAINT checkpoints_size_positive CHECK (size > 0),
    CONSTRAINT checkpoints_root_size CHECK (octet_length(root) = 32)
);

-- Signatures below checkpoints, a line each: the log's own, and those of witnesses.
CREATE TABLE transparency.signatures (
    size bigint NOT NULL,
    signed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    name text COLLATE "C" NOT NULL,
    key_id bytea NOT NULL,
    value bytea NOT NULL,
    CONSTRAINT signatures_pkey PRIMARY KEY (size, name, key_id),
    CONSTRAINT signatures_of_checkpoints FOREIGN KEY (size) REFERENCES transparency.checkpoints (size),
    CONSTRAINT signatures_name_size CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT signatures_key_id_size CHECK (octet_length(key_id) = 4),
    CONSTRAINT signatures_value_size CHECK (octet_length(value) BETWEEN 64 AND 1000)
);

-- Which checkpoints lie outside this database, and where.
CREATE TABLE transparency.kept (
    size bigint NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    sink text COLLATE "C" NOT NULL,
    CONSTRAINT kept_pkey PRIMARY KEY (sink, size),
    CONSTRAINT kept_checkpoints FOREIGN KEY (size) REFERENCES transparency.checkpoints (size),
    CONSTRAINT kept_sink_size CHECK (char_length(sink) BETWEEN 1 AND 200)
);

-- Called again after each migration, as the owner.
CREATE FUNCTION transparency.grant_service(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA transparency TO %I', service);
    EXECUTE format('GRANT SELECT, UPDATE ON transparency.tree, transparency.shard_positions TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON transparency.tiles TO %I', service);
    EXECUTE format(
        'GRANT SELECT, INSERT ON transparency.runs, transparency.checkpoints, transparency.signatures,'
        ' transparency.kept TO %I', service
    );
END
$$;

REVOKE ALL ON FUNCTION transparency.grant_service(name) FROM PUBLIC;
