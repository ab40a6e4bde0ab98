-- What the owners of tables note beside the log. Nothing here says anything that the log does not prove but for when a
-- table was last served: losing a row costs a search, or a longer window.

CREATE SCHEMA tables;

-- One row for each table that was ever opened.
CREATE TABLE tables.tables (
    last_round bigint NOT NULL DEFAULT 0,
    floor_round bigint,
    serving_token bigint,
    outage_since timestamptz,
    opened boolean NOT NULL DEFAULT false,
    table_id text COLLATE "C" NOT NULL,
    CONSTRAINT tables_pkey PRIMARY KEY (table_id),
    CONSTRAINT tables_id_form CHECK (table_id ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT tables_last_round_counts CHECK (last_round >= 0),
    CONSTRAINT tables_floor_round_counts CHECK (floor_round > 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN tables.tables.last_round IS
    'Number of the last round that was opened, written in the transaction that opens it; 0: none.';
COMMENT ON COLUMN tables.tables.floor_round IS
    'The round that waits for the floor, after an outage longer than a window may be extended.';
COMMENT ON COLUMN tables.tables.serving_token IS
    'Token of the lease under which the table is served; null while it is being taken over.';
COMMENT ON COLUMN tables.tables.outage_since IS
    'Since when no commands could be accepted; null while it is served.';

CREATE INDEX tables_opened_idx ON tables.tables (table_id) WHERE opened;

-- Rounds whose correction is decided and not ended: its owner goes on with it.
CREATE TABLE tables.unfinished_rounds (
    number bigint NOT NULL,
    table_id text COLLATE "C" NOT NULL,
    CONSTRAINT unfinished_rounds_pkey PRIMARY KEY (table_id, number),
    CONSTRAINT unfinished_rounds_table_exists FOREIGN KEY (table_id) REFERENCES tables.tables (table_id),
    CONSTRAINT unfinished_rounds_number_counts CHECK (number > 0)
);

-- Rights. Called again after each migration, as the owner.
CREATE FUNCTION tables.grant_service(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA tables TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON tables.tables TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON tables.unfinished_rounds TO %I', service);
    EXECUTE format('GRANT SELECT ON public.applied_migrations TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION tables.grant_service(name) FROM PUBLIC;
