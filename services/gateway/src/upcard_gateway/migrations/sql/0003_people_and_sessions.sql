-- Players, their accounts and their sessions. `gateway.people` is the one place with anything about a person; its rows can
-- be erased, and what refers to a player elsewhere has the opaque id alone.

-- Which player is of which operator; for ever.
CREATE TABLE gateway.players (
    known_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    player text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    CONSTRAINT players_pkey PRIMARY KEY (player),
    CONSTRAINT players_operator_key UNIQUE (player, operator),
    CONSTRAINT players_player_form CHECK (player ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT players_operator_form CHECK (operator ~ '^[A-Za-z0-9_-]{1,64}$')
);

-- The erasable link, with what the operator told of the person at the latest launch.
CREATE TABLE gateway.people (
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    player text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    partner_player text COLLATE "C" NOT NULL,
    nickname text COLLATE "C" NOT NULL,
    country text COLLATE "C" NOT NULL,
    language text COLLATE "C" NOT NULL,
    cashier_url text COLLATE "C",
    CONSTRAINT people_pkey PRIMARY KEY (player),
    CONSTRAINT people_partner_player_key UNIQUE (operator, partner_player),
    CONSTRAINT people_player_known FOREIGN KEY (player, operator) REFERENCES gateway.players (player, operator),
    CONSTRAINT people_partner_player_size CHECK (char_length(partner_player) BETWEEN 1 AND 128),
    CONSTRAINT people_nickname_size CHECK (char_length(nickname) BETWEEN 1 AND 32),
    CONSTRAINT people_country_form CHECK (country ~ '^[A-Z]{2}$'),
    CONSTRAINT people_language_size CHECK (char_length(language) BETWEEN 2 AND 35),
    CONSTRAINT people_cashier_url_size CHECK (char_length(cashier_url) <= 500)
);

COMMENT ON COLUMN gateway.people.partner_player IS 'The operator''s own id of the player.';

-- The account of a player in a currency. Its id is made here, before the wallet is asked to open it, so that asking again
-- opens the same one.
CREATE TABLE gateway.accounts (
    opened_at timestamptz,
    account text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (account),
    CONSTRAINT accounts_player_currency_key UNIQUE (player, currency),
    CONSTRAINT accounts_player_known FOREIGN KEY (player, operator) REFERENCES gateway.players (player, operator),
    CONSTRAINT accounts_account_form CHECK (account ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT accounts_currency_form CHECK (currency ~ '^[A-Z]{3}$')
);

COMMENT ON COLUMN gateway.accounts.opened_at IS 'When the wallet was known to have it; null: it may not.';

-- Sessions as they stand; what happened is in the log, in the streams `session-<session>`. `events`: how many that stream
-- has. Whoever changes a session locks its player's row of `gateway.players` first, so a player's sessions have one order.
CREATE TABLE gateway.sessions (
    opened_at timestamptz NOT NULL,
    launch_until timestamptz NOT NULL,
    ends_by timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    redeemed_at timestamptz,
    ended_at timestamptz,
    idle_s integer NOT NULL,
    events integer NOT NULL,
    wager_max bigint,
    round_max bigint,
    session text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    wallet text COLLATE "C" NOT NULL,
    table_id text COLLATE "C",
    end_reason text COLLATE "C",
    launch_hash bytea NOT NULL,
    secret_hash bytea,
    CONSTRAINT sessions_pkey PRIMARY KEY (session),
    CONSTRAINT sessions_launch_hash_key UNIQUE (launch_hash),
    CONSTRAINT sessions_secret_hash_key UNIQUE (secret_hash),
    CONSTRAINT sessions_player_known FOREIGN KEY (player, operator) REFERENCES gateway.players (player, operator),
    CONSTRAINT sessions_account_known FOREIGN KEY (account) REFERENCES gateway.accounts (account),
    CONSTRAINT sessions_session_form CHECK (session ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT sessions_environment_known CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT sessions_wallet_known CHECK (wallet IN ('transfer', 'seamless')),
    CONSTRAINT sessions_hashes_size CHECK (octet_length(launch_hash) = 32 AND octet_length(secret_hash) = 32),
    CONSTRAINT sessions_idle_positive CHECK (idle_s > 0),
    CONSTRAINT sessions_limits_positive CHECK (wager_max > 0 AND round_max > 0),
    CONSTRAINT sessions_redeemed_has_secret CHECK ((redeemed_at IS NULL) = (secret_hash IS NULL)),
    CONSTRAINT sessions_ended_for_a_reason CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CONSTRAINT sessions_times_in_order CHECK (opened_at <= ends_by AND opened_at < launch_until)
) WITH (fillfactor = 80);

-- One live session a player.
CREATE UNIQUE INDEX sessions_live_key ON gateway.sessions (player) WHERE ended_at IS NULL;
CREATE INDEX sessions_player_idx ON gateway.sessions (player, opened_at DESC, session DESC);
CREATE INDEX sessions_due_idx ON gateway.sessions (due_at) WHERE ended_at IS NULL;

COMMENT ON COLUMN gateway.sessions.due_at IS 'When it ends by itself, unless it is seen before.';

CREATE FUNCTION gateway.grant_sessions(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON gateway.players TO %I', service);
    -- A row lock needs the right to change something.
    EXECUTE format('GRANT UPDATE (known_since) ON gateway.players TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.people TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON gateway.accounts TO %I', service);
    EXECUTE format('GRANT UPDATE (opened_at) ON gateway.accounts TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON gateway.sessions TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_sessions(name) FROM PUBLIC;
