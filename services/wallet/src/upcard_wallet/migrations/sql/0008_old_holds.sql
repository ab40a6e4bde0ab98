-- Holds that are old and open: which commands the table's owner is asked about, and when again. One row a command, as
-- long as something of it is held; instances share the questions by the time when each is due.

CREATE TABLE wallet.hold_questions (
    due_at timestamptz NOT NULL,
    asked integer NOT NULL DEFAULT 1,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    bet_id text COLLATE "C" NOT NULL,
    CONSTRAINT hold_questions_pkey PRIMARY KEY (round, player, bet_id),
    CONSTRAINT hold_questions_asked_positive CHECK (asked > 0)
);

CREATE FUNCTION wallet.grant_old_holds(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.hold_questions TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_old_holds(name) FROM PUBLIC;
