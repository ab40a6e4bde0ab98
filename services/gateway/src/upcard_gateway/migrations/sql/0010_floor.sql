-- What the floor looks at: the log of significant events, who deals at tables and since when, proposed corrections. All ids
-- are our own: nothing here names a person.

-- One row an event of table, wallet or staff that is significant; written once, with the position of who follows.
CREATE TABLE gateway.significant_events (
    happened_at timestamptz NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    position bigint NOT NULL,
    amount bigint,
    event_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    stream text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    table_id text COLLATE "C",
    round text COLLATE "C",
    player text COLLATE "C",
    account text COLLATE "C",
    staff text COLLATE "C",
    currency text COLLATE "C",
    reason text COLLATE "C",
    data jsonb NOT NULL,
    CONSTRAINT significant_events_pkey PRIMARY KEY (event_id),
    CONSTRAINT significant_events_source_known CHECK (source IN ('table', 'wallet', 'gateway')),
    CONSTRAINT significant_events_kind_form CHECK (kind ~ '^[a-z_]{1,64}$')
);

CREATE INDEX significant_events_at_idx ON gateway.significant_events (happened_at DESC, event_id DESC);
CREATE INDEX significant_events_kind_idx ON gateway.significant_events (kind, happened_at DESC);
CREATE INDEX significant_events_table_idx ON gateway.significant_events (table_id, happened_at DESC);
CREATE INDEX significant_events_player_idx ON gateway.significant_events (player, happened_at DESC) WHERE player IS NOT NULL;

-- What follows from the table's own events and is in no answer of the table service.
CREATE TABLE gateway.floor_tables (
    dealer_since timestamptz,
    shift_since timestamptz,
    manual_since timestamptz,
    position bigint NOT NULL,
    table_id text COLLATE "C" NOT NULL,
    dealer text COLLATE "C",
    shift text COLLATE "C",
    manual_reason text COLLATE "C",
    CONSTRAINT floor_tables_pkey PRIMARY KEY (table_id)
) WITH (fillfactor = 80);

COMMENT ON COLUMN gateway.floor_tables.position IS 'In the table''s stream: of the last event that it is made of.';

-- Corrections that somebody has asked for, so that another person finds them. A row is written before the table service is
-- asked: `resettlement` is null until its answer is known, and asking again under the same request gives the same one.
CREATE TABLE gateway.floor_corrections (
    asked_at timestamptz NOT NULL,
    decided_at timestamptz,
    number bigint NOT NULL,
    resettlement uuid,
    request_id text COLLATE "C" NOT NULL,
    table_id text COLLATE "C" NOT NULL,
    proposer text COLLATE "C" NOT NULL,
    why text NOT NULL,
    state text COLLATE "C" NOT NULL,
    decided_by text COLLATE "C",
    correction jsonb NOT NULL,
    CONSTRAINT floor_corrections_pkey PRIMARY KEY (request_id),
    CONSTRAINT floor_corrections_resettlement_key UNIQUE (resettlement),
    CONSTRAINT floor_corrections_state_known CHECK (
        state IN ('asked', 'refused', 'proposed', 'approved', 'rejected')
    ),
    CONSTRAINT floor_corrections_why_size CHECK (char_length(why) BETWEEN 1 AND 500),
    CONSTRAINT floor_corrections_two_people CHECK (state <> 'approved' OR decided_by <> proposer),
    CONSTRAINT floor_corrections_known_by_then CHECK (
        resettlement IS NOT NULL OR state IN ('asked', 'refused')
    )
);

CREATE INDEX floor_corrections_open_idx ON gateway.floor_corrections (asked_at DESC) WHERE state IN ('asked', 'proposed');
CREATE INDEX floor_corrections_at_idx ON gateway.floor_corrections (asked_at DESC);

CREATE FUNCTION gateway.grant_floor(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON gateway.significant_events TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON gateway.floor_tables, gateway.floor_corrections TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_floor(name) FROM PUBLIC;
