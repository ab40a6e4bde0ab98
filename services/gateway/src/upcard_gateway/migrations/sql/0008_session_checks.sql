-- What a session's limits said to a player's wish: kept before the table is asked, so that the same wish again gets the
-- word of then, although by now more is at stake. Sessions without limits have no rows.
CREATE TABLE gateway.session_checks (
    checked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    maximum bigint,
    session text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    CONSTRAINT session_checks_pkey PRIMARY KEY (session, request_id),
    CONSTRAINT session_checks_request_size CHECK (char_length(request_id) BETWEEN 1 AND 64),
    CONSTRAINT session_checks_reason_form CHECK (reason ~ '^[a-z][a-z_]{0,63}$')
) WITH (autovacuum_vacuum_scale_factor = 0.1);

CREATE INDEX session_checks_checked_idx ON gateway.session_checks (checked_at);

COMMENT ON COLUMN gateway.session_checks.reason IS 'Null: nothing against it.';

CREATE FUNCTION gateway.grant_session_checks(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON gateway.session_checks TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_session_checks(name) FROM PUBLIC;
