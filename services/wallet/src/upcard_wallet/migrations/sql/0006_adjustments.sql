-- Adjustments: one person proposes, another one approves or rejects. Rows are only ever added, and that the two are
-- different people is the database's own rule.

CREATE TABLE wallet.adjustment_proposals (
    adjustment uuid NOT NULL,
    amount bigint NOT NULL,
    proposed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    account text COLLATE "C" NOT NULL,
    book text COLLATE "C" NOT NULL,
    against text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    round text COLLATE "C",
    proposer text COLLATE "C" NOT NULL,
    CONSTRAINT adjustment_proposals_pkey PRIMARY KEY (adjustment),
    CONSTRAINT adjustment_proposals_proposer_key UNIQUE (adjustment, proposer),
    CONSTRAINT adjustment_proposals_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts (account),
    CONSTRAINT adjustment_proposals_amount_not_zero CHECK (amount <> 0),
    CONSTRAINT adjustment_proposals_book_known CHECK (book IN ('cash', 'receivable')),
    CONSTRAINT adjustment_proposals_against_known CHECK (against IN ('house', 'suspense')),
    CONSTRAINT adjustment_proposals_reason_size CHECK (char_length(reason) BETWEEN 1 AND 100),
    CONSTRAINT adjustment_proposals_proposer_form CHECK (proposer ~ '^staff:[A-Za-z0-9_-]{1,64}$')
);

-- `proposer` is the proposal's, so that the two people can be compared here.
CREATE TABLE wallet.adjustment_decisions (
    adjustment uuid NOT NULL,
    transaction uuid,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    approved boolean NOT NULL,
    proposer text COLLATE "C" NOT NULL,
    decided_by text COLLATE "C" NOT NULL,
    CONSTRAINT adjustment_decisions_pkey PRIMARY KEY (adjustment),
    CONSTRAINT adjustment_decisions_proposal_exists FOREIGN KEY (adjustment, proposer)
        REFERENCES wallet.adjustment_proposals (adjustment, proposer),
    CONSTRAINT adjustment_decisions_transaction_exists FOREIGN KEY (transaction)
        REFERENCES wallet.transactions (transaction),
    CONSTRAINT adjustment_decisions_two_people CHECK (NOT approved OR decided_by <> proposer),
    CONSTRAINT adjustment_decisions_posted CHECK (approved = (transaction IS NOT NULL)),
    CONSTRAINT adjustment_decisions_decided_by_form CHECK (decided_by ~ '^staff:[A-Za-z0-9_-]{1,64}$')
);

CREATE FUNCTION wallet.refuse_adjustment_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'adjustments are only ever added' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet.adjustment_proposals
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_adjustment_change();
ALTER TABLE wallet.adjustment_proposals ENABLE ALWAYS TRIGGER only_added;
CREATE TRIGGER only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet.adjustment_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_adjustment_change();
ALTER TABLE wallet.adjustment_decisions ENABLE ALWAYS TRIGGER only_added;

-- What the service's calls need, and its readiness: whether all migrations are there.
CREATE FUNCTION wallet.grant_calls(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON wallet.adjustment_proposals, wallet.adjustment_decisions TO %I', service);
    EXECUTE format('GRANT SELECT ON public.applied_migrations TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.refuse_adjustment_change(), wallet.grant_calls(name) FROM PUBLIC;
