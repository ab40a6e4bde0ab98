-- How far the relay has published this database's log, and who asked for what to be published again.

CREATE SCHEMA messaging;

-- One row a topic and shard: every event up to `position` has been acknowledged by the broker. `token` is that of the
-- lease under which a relay took the rows over: one that has lost its lease cannot move them.
CREATE TABLE messaging.relay_positions (
    position bigint NOT NULL DEFAULT 0,
    token bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    shard smallint NOT NULL,
    topic text COLLATE "C" NOT NULL,
    CONSTRAINT relay_positions_pkey PRIMARY KEY (topic, shard),
    CONSTRAINT relay_positions_position_not_negative CHECK (position >= 0),
    CONSTRAINT relay_positions_shard_in_range CHECK (shard BETWEEN 0 AND 63),
    CONSTRAINT relay_positions_topic_size CHECK (char_length(topic) BETWEEN 1 AND 249)
) WITH (fillfactor = 25, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Only ever added to.
CREATE TABLE messaging.republications (
    republication bigint GENERATED ALWAYS AS IDENTITY,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    from_position bigint NOT NULL,
    position_before bigint NOT NULL,
    shard smallint NOT NULL,
    topic text NOT NULL,
    asked_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT republications_pkey PRIMARY KEY (republication),
    CONSTRAINT republications_back CHECK (from_position BETWEEN 1 AND position_before + 1),
    CONSTRAINT republications_asked_by_size CHECK (char_length(asked_by) BETWEEN 1 AND 200),
    CONSTRAINT republications_reason_size CHECK (char_length(reason) BETWEEN 1 AND 1000)
);

-- Called again after each migration, as the owner.
CREATE FUNCTION messaging.grant_service(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA messaging TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON messaging.relay_positions TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON messaging.republications TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION messaging.grant_service(name) FROM PUBLIC;
