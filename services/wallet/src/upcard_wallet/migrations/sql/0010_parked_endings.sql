-- Parked calls that end without their partner: one person proposes how, another approves or rejects. Rows are only ever
-- added. And a third way to end one: the player owes what the partner cannot take back.

CREATE TABLE wallet.parked_proposals (
    proposal uuid NOT NULL,
    call uuid NOT NULL,
    proposed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ending text COLLATE "C" NOT NULL,
    proposer text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    CONSTRAINT parked_proposals_pkey PRIMARY KEY (proposal),
    CONSTRAINT parked_proposals_proposer_key UNIQUE (proposal, proposer),
    CONSTRAINT parked_proposals_call_exists FOREIGN KEY (call) REFERENCES wallet.partner_calls (call),
    CONSTRAINT parked_proposals_ending_known CHECK (ending IN ('done_by_hand', 'owed_by_player')),
    CONSTRAINT parked_proposals_reason_size CHECK (char_length(reason) BETWEEN 1 AND 500),
    CONSTRAINT parked_proposals_proposer_form CHECK (proposer ~ '^staff:[A-Za-z0-9_-]{1,64}$')
);

CREATE INDEX parked_proposals_call_idx ON wallet.parked_proposals (call);

-- `proposer` is the proposal's, so that the two people can be compared here.
CREATE TABLE wallet.parked_verdicts (
    proposal uuid NOT NULL,
    transaction uuid,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    approved boolean NOT NULL,
    proposer text COLLATE "C" NOT NULL,
    decided_by text COLLATE "C" NOT NULL,
    CONSTRAINT parked_verdicts_pkey PRIMARY KEY (proposal),
    CONSTRAINT parked_verdicts_proposal_exists FOREIGN KEY (proposal, proposer)
        REFERENCES wallet.parked_proposals (proposal, proposer),
    CONSTRAINT parked_verdicts_transaction_exists FOREIGN KEY (transaction) REFERENCES wallet.transactions (transaction),
    CONSTRAINT parked_verdicts_two_people CHECK (NOT approved OR decided_by <> proposer),
    CONSTRAINT parked_verdicts_posted_when_approved CHECK (approved OR transaction IS NULL),
    CONSTRAINT parked_verdicts_decided_by_form CHECK (decided_by ~ '^staff:[A-Za-z0-9_-]{1,64}$')
);

CREATE TRIGGER only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet.parked_proposals
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();
ALTER TABLE wallet.parked_proposals ENABLE ALWAYS TRIGGER only_added;
CREATE TRIGGER only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet.parked_verdicts
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();
ALTER TABLE wallet.parked_verdicts ENABLE ALWAYS TRIGGER only_added;

-- Replaced at once by one that allows more.
-- squawk-ignore ban-drop-constraint
ALTER TABLE wallet.partner_decisions DROP CONSTRAINT partner_decisions_what_known;
ALTER TABLE wallet.partner_decisions ADD CONSTRAINT partner_decisions_what_known
    CHECK (what IN ('again', 'done_by_hand', 'owed_by_player')) NOT VALID;

COMMENT ON COLUMN wallet.partner_calls.posted IS
    'Whether our ledger has the movement; not that of a rollback that the player owes instead.';

CREATE FUNCTION wallet.grant_parked_endings(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON wallet.parked_proposals, wallet.parked_verdicts TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_parked_endings(name) FROM PUBLIC;
