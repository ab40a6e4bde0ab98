-- Sessions of staff as they stand, and tries to sign in. What happened is in the log, in the streams `staff-<staff>`;
-- where somebody was (address, browser) is here alone, and goes some weeks after the session.

CREATE TABLE gateway.staff_sessions (
    begun_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    ends_by timestamptz NOT NULL,
    locked_at timestamptz,
    ended_at timestamptz,
    enrolling boolean NOT NULL,
    session text COLLATE "C" NOT NULL,
    staff text COLLATE "C" NOT NULL,
    end_reason text COLLATE "C",
    address text COLLATE "C" NOT NULL,
    browser text COLLATE "C" NOT NULL,
    token_hash bytea NOT NULL,
    CONSTRAINT staff_sessions_pkey PRIMARY KEY (session),
    CONSTRAINT staff_sessions_token_hash_key UNIQUE (token_hash),
    CONSTRAINT staff_sessions_staff_known FOREIGN KEY (staff) REFERENCES gateway.staff (staff),
    CONSTRAINT staff_sessions_token_hash_size CHECK (octet_length(token_hash) = 32),
    CONSTRAINT staff_sessions_ended_for_a_reason CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CONSTRAINT staff_sessions_place_size CHECK (char_length(address) <= 64 AND char_length(browser) <= 200)
) WITH (fillfactor = 80);

CREATE INDEX staff_sessions_open_idx ON gateway.staff_sessions (staff, begun_at) WHERE ended_at IS NULL;
CREATE INDEX staff_sessions_staff_idx ON gateway.staff_sessions (staff, begun_at DESC);
CREATE INDEX staff_sessions_ended_idx ON gateway.staff_sessions (ended_at) WHERE ended_at IS NOT NULL;

-- Tries that have failed since the last one that did not, by a digest of whose they are: a sign-in name, an address, a name
-- from an address. Names that nobody has are counted like all others.
CREATE TABLE gateway.staff_tries (
    tried_at timestamptz NOT NULL,
    wait_until timestamptz NOT NULL,
    failures bigint NOT NULL,
    whose bytea NOT NULL,
    CONSTRAINT staff_tries_pkey PRIMARY KEY (whose),
    CONSTRAINT staff_tries_whose_size CHECK (octet_length(whose) = 32)
) WITH (fillfactor = 80);

CREATE INDEX staff_tries_tried_idx ON gateway.staff_tries (tried_at);

CREATE FUNCTION gateway.grant_staff_sessions(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.staff_sessions, gateway.staff_tries TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_staff_sessions(name) FROM PUBLIC;
