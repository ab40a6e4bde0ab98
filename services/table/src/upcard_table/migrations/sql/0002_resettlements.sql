-- Corrections of settled rounds: one person proposes, another one approves or rejects. That the two are different people
-- is the database's own rule; what was proposed never changes.

CREATE TABLE tables.resettlements (
    resettlement uuid NOT NULL,
    number bigint NOT NULL,
    proposed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_at timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    table_id text COLLATE "C" NOT NULL,
    proposer text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'proposed',
    decided_by text COLLATE "C",
    correction bytea NOT NULL,
    CONSTRAINT resettlements_pkey PRIMARY KEY (resettlement),
    CONSTRAINT resettlements_number_counts CHECK (number > 0),
    CONSTRAINT resettlements_attempts_count CHECK (attempts >= 0),
    CONSTRAINT resettlements_table_form CHECK (table_id ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT resettlements_proposer_form CHECK (proposer ~ '^staff:[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT resettlements_state_known CHECK (state IN ('proposed', 'approving', 'approved', 'rejected')),
    CONSTRAINT resettlements_decided CHECK (
        (state = 'proposed') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
    ),
    CONSTRAINT resettlements_decided_by_form CHECK (decided_by ~ '^staff:[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT resettlements_two_people CHECK (state = 'rejected' OR decided_by <> proposer),
    CONSTRAINT resettlements_correction_size CHECK (octet_length(correction) BETWEEN 1 AND 262144)
);

COMMENT ON COLUMN tables.resettlements.state IS
    'approving: a second person has approved, and the table''s owner has not said yet that the round is corrected.';
COMMENT ON COLUMN tables.resettlements.attempts IS
    'How often it was approved: an approval that the rules refused leaves it proposed.';

CREATE FUNCTION tables.grant_resettlements(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON tables.resettlements TO %I', service);
    EXECUTE format('GRANT UPDATE (state, decided_by, decided_at, attempts) ON tables.resettlements TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION tables.grant_resettlements(name) FROM PUBLIC;
