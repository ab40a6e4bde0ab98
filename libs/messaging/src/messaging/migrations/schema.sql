-- What the migrations make, in full: for reading, and compared with a migrated database by a test.
-- Made by `python -m tests.messaging.relay.schema_dump`.


CREATE SCHEMA messaging;

CREATE FUNCTION messaging.grant_service(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA messaging TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON messaging.relay_positions TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON messaging.republications TO %I', service);
END
$$;

CREATE TABLE messaging.relay_positions (
    "position" bigint DEFAULT 0 NOT NULL,
    token bigint NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    shard smallint NOT NULL,
    topic text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT relay_positions_position_not_negative CHECK (("position" >= 0)),
    CONSTRAINT relay_positions_shard_in_range CHECK (((shard >= 0) AND (shard <= 63))),
    CONSTRAINT relay_positions_topic_size CHECK (((char_length(topic) >= 1) AND (char_length(topic) <= 249)))
)
WITH (fillfactor='25', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

CREATE TABLE messaging.republications (
    republication bigint NOT NULL,
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    from_position bigint NOT NULL,
    position_before bigint NOT NULL,
    shard smallint NOT NULL,
    topic text NOT NULL,
    asked_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT republications_asked_by_size CHECK (((char_length(asked_by) >= 1) AND (char_length(asked_by) <= 200))),
    CONSTRAINT republications_back CHECK (((from_position >= 1) AND (from_position <= (position_before + 1)))),
    CONSTRAINT republications_reason_size CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 1000)))
);

ALTER TABLE messaging.republications ALTER COLUMN republication ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME messaging.republications_republication_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY messaging.relay_positions
    ADD CONSTRAINT relay_positions_pkey PRIMARY KEY (topic, shard);

ALTER TABLE ONLY messaging.republications
    ADD CONSTRAINT republications_pkey PRIMARY KEY (republication);

REVOKE ALL ON FUNCTION messaging.grant_service(service name) FROM PUBLIC;
