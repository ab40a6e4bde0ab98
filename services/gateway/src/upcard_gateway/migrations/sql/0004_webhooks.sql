-- Webhooks: where operators want them, which are queued, what became of each. All ids of players are our own; an
-- operator's ids are put in when a webhook is sent.

-- The secret lies encrypted, bound to endpoint and version. While it is replaced, the one before signs as well. What
-- failed in a row, and until when the endpoint is left alone, is known to all instances.
CREATE TABLE gateway.webhook_endpoints (
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    removed_at timestamptz,
    failing_since timestamptz,
    paused_until timestamptz,
    old_secret_until timestamptz,
    failures integer NOT NULL DEFAULT 0,
    secret_version integer NOT NULL DEFAULT 1,
    is_full boolean NOT NULL DEFAULT false,
    endpoint text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    types text [] COLLATE "C" NOT NULL,
    secret_key text COLLATE "C" NOT NULL,
    old_secret_key text COLLATE "C",
    secret bytea NOT NULL,
    old_secret bytea,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (endpoint),
    CONSTRAINT webhook_endpoints_endpoint_form CHECK (endpoint ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT webhook_endpoints_operator_form CHECK (operator ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT webhook_endpoints_environment_known CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT webhook_endpoints_url_size CHECK (char_length(url) BETWEEN 8 AND 500),
    CONSTRAINT webhook_endpoints_types_known CHECK (
        cardinality(types) BETWEEN 1 AND 3 AND types <@ ARRAY['round_ended', 'jackpot', 'table_state']
    ),
    CONSTRAINT webhook_endpoints_old_secret_whole CHECK (
        (old_secret IS NULL) = (old_secret_key IS NULL) AND (old_secret IS NULL) = (old_secret_until IS NULL)
    )
) WITH (fillfactor = 70);

CREATE INDEX webhook_endpoints_operator_idx ON gateway.webhook_endpoints (operator, created_at);

-- Everything about one subject is told to an endpoint in one order: its lane. `due_at` says when somebody looks at it
-- next, `claim` who does now; both only while something is queued.
CREATE TABLE gateway.webhook_lanes (
    claim uuid,
    due_at timestamptz,
    failing_since timestamptz,
    failures integer NOT NULL DEFAULT 0,
    endpoint text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    CONSTRAINT webhook_lanes_pkey PRIMARY KEY (endpoint, subject),
    CONSTRAINT webhook_lanes_endpoint_exists FOREIGN KEY (endpoint) REFERENCES gateway.webhook_endpoints (endpoint),
    CONSTRAINT webhook_lanes_claim_while_due CHECK (due_at IS NOT NULL OR claim IS NULL)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX webhook_lanes_due_idx ON gateway.webhook_lanes (endpoint, due_at) WHERE due_at IS NOT NULL;

COMMENT ON COLUMN gateway.webhook_lanes.due_at IS 'Null: nothing is queued.';

CREATE TABLE gateway.webhook_deliveries (
    number bigint GENERATED ALWAYS AS IDENTITY,
    webhook uuid NOT NULL,
    event_id uuid NOT NULL,
    happened_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    position bigint NOT NULL,
    part integer NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    last_status integer,
    operator text COLLATE "C" NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    last_error text COLLATE "C",
    data jsonb NOT NULL,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (webhook),
    CONSTRAINT webhook_deliveries_place_key UNIQUE (operator, number),
    CONSTRAINT webhook_deliveries_lane_exists FOREIGN KEY (endpoint, subject)
        REFERENCES gateway.webhook_lanes (endpoint, subject),
    CONSTRAINT webhook_deliveries_state_known CHECK (state IN ('queued', 'delivered', 'parked')),
    CONSTRAINT webhook_deliveries_type_known CHECK (type IN ('round_ended', 'jackpot', 'table_state')),
    CONSTRAINT webhook_deliveries_error_size CHECK (char_length(last_error) <= 200)
) WITH (fillfactor = 80);

-- Which is next, of few, however many there have been; and all of a lane.
CREATE INDEX webhook_deliveries_queued_idx ON gateway.webhook_deliveries (endpoint, subject, position, part)
    WHERE state = 'queued';
CREATE INDEX webhook_deliveries_lane_idx ON gateway.webhook_deliveries (endpoint, subject);
CREATE INDEX webhook_deliveries_open_idx ON gateway.webhook_deliveries (operator, number) WHERE state <> 'delivered';
CREATE INDEX webhook_deliveries_over_idx ON gateway.webhook_deliveries (changed_at) WHERE state <> 'queued';

COMMENT ON COLUMN gateway.webhook_deliveries.webhook IS 'Made of endpoint, event and part: the same event queues nothing twice.';

-- Rounds that have not ended: their players of operators, what these have staked before the deal, and how they were
-- settled so far. A row goes when its round's webhooks are queued.
CREATE TABLE gateway.webhook_rounds (
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    placed bigint NOT NULL DEFAULT 0,
    staked bigint,
    returned bigint,
    net bigint,
    revision integer NOT NULL DEFAULT 0,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    boxes jsonb NOT NULL DEFAULT '[]',
    CONSTRAINT webhook_rounds_pkey PRIMARY KEY (round, player)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE INDEX webhook_rounds_noted_idx ON gateway.webhook_rounds (noted_at);

CREATE FUNCTION gateway.grant_webhooks(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON gateway.webhook_endpoints TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.webhook_lanes, gateway.webhook_deliveries,'
                   ' gateway.webhook_rounds TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_webhooks(name) FROM PUBLIC;
