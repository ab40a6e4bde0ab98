-- Calls to partners' wallets: what was asked of whom, what they said, and the queue of what is still to be told.

-- Everything about one player and round is told to the partner in one order: its lane. A credit without a round has a
-- lane of its own. `due_at` says when somebody looks at it next, `claim` who does now; both only while it waits.
CREATE TABLE wallet.partner_lanes (
    lane uuid NOT NULL,
    claim uuid,
    due_at timestamptz,
    failing_since timestamptz,
    last_number integer NOT NULL DEFAULT 0,
    revision integer NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    contradictions integer NOT NULL DEFAULT 0,
    state text COLLATE "C" NOT NULL DEFAULT 'idle',
    operator text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    round text COLLATE "C",
    CONSTRAINT partner_lanes_pkey PRIMARY KEY (lane),
    CONSTRAINT partner_lanes_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts (account),
    CONSTRAINT partner_lanes_state_known CHECK (state IN ('idle', 'waiting', 'parked')),
    CONSTRAINT partner_lanes_due_while_waiting CHECK ((state = 'waiting') = (due_at IS NOT NULL)),
    CONSTRAINT partner_lanes_claim_while_waiting CHECK (state = 'waiting' OR claim IS NULL)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX partner_lanes_due_idx ON wallet.partner_lanes (operator, due_at) WHERE state = 'waiting';
CREATE INDEX partner_lanes_parked_idx ON wallet.partner_lanes (operator, lane) WHERE state = 'parked';
CREATE INDEX partner_lanes_round_idx ON wallet.partner_lanes (round) WHERE round IS NOT NULL;

COMMENT ON COLUMN wallet.partner_lanes.revision IS 'The latest revision of the round''s settlement that was noted here.';

-- A bet is `asking` until somebody knows its end; wins and rollbacks are `queued` until they are `done`. `posted` says
-- whether our ledger has the movement: not that of a bet whose end nobody knew, nor of its rollback.
CREATE TABLE wallet.partner_calls (
    call uuid NOT NULL,
    lane uuid NOT NULL,
    undone_by uuid,
    cause_event uuid,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    abandoned_at timestamptz,
    not_before timestamptz,
    total bigint NOT NULL,
    number integer NOT NULL,
    revision integer,
    posted boolean NOT NULL,
    closes_round boolean NOT NULL DEFAULT false,
    confirming boolean NOT NULL DEFAULT false,
    kind text COLLATE "C" NOT NULL,
    undoes text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    business_ids uuid[] NOT NULL,
    amounts bigint[] NOT NULL,
    command jsonb,
    CONSTRAINT partner_calls_pkey PRIMARY KEY (call),
    CONSTRAINT partner_calls_lane_number_key UNIQUE (lane, number),
    CONSTRAINT partner_calls_lane_exists FOREIGN KEY (lane) REFERENCES wallet.partner_lanes (lane),
    CONSTRAINT partner_calls_kind_known CHECK (kind IN ('bet', 'win', 'rollback')),
    CONSTRAINT partner_calls_undoes_known CHECK ((kind = 'rollback') = (undoes IS NOT NULL) AND undoes IN ('bet', 'win')),
    CONSTRAINT partner_calls_state_of_kind CHECK (
        CASE kind
            WHEN 'bet' THEN state IN ('asking', 'accepted', 'refused', 'unknown')
            ELSE state IN ('queued', 'done', 'parked')
        END
    ),
    CONSTRAINT partner_calls_transactions_match CHECK (
        cardinality(business_ids) = cardinality(amounts) AND cardinality(business_ids) BETWEEN 1 AND 1000
    ),
    CONSTRAINT partner_calls_total_not_negative CHECK (total >= 0 AND (total > 0 OR kind = 'win')),
    CONSTRAINT partner_calls_command_of_a_bet CHECK ((kind = 'bet') = (command IS NOT NULL)),
    CONSTRAINT partner_calls_abandoned_of_a_bet CHECK ((kind = 'bet') = (abandoned_at IS NOT NULL))
) WITH (fillfactor = 80);

-- What is not over yet: few, however many calls there have been.
CREATE INDEX partner_calls_asking_idx ON wallet.partner_calls (abandoned_at) WHERE state = 'asking';
CREATE INDEX partner_calls_open_idx ON wallet.partner_calls (lane, number) WHERE state IN ('queued', 'parked');

COMMENT ON COLUMN wallet.partner_calls.command IS 'The holds of a bet''s command: what a later process needs to end it.';
COMMENT ON COLUMN wallet.partner_calls.abandoned_at IS 'From when on a bet that is still `asking` is nobody''s: it is rolled back.';

-- Each try and its answer, for disputes: inserted only.
CREATE TABLE wallet.partner_answers (
    answer bigint GENERATED ALWAYS AS IDENTITY,
    call uuid NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    took_ms integer NOT NULL,
    verdict text COLLATE "C" NOT NULL,
    detail text COLLATE "C" NOT NULL,
    CONSTRAINT partner_answers_pkey PRIMARY KEY (answer),
    CONSTRAINT partner_answers_call_exists FOREIGN KEY (call) REFERENCES wallet.partner_calls (call),
    CONSTRAINT partner_answers_detail_size CHECK (char_length(detail) <= 200)
);

CREATE INDEX partner_answers_call_idx ON wallet.partner_answers (call);

-- What people decided about parked calls: inserted only.
CREATE TABLE wallet.partner_decisions (
    decision uuid NOT NULL,
    call uuid NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    what text COLLATE "C" NOT NULL,
    proposer text COLLATE "C" NOT NULL,
    approver text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    CONSTRAINT partner_decisions_pkey PRIMARY KEY (decision),
    CONSTRAINT partner_decisions_call_exists FOREIGN KEY (call) REFERENCES wallet.partner_calls (call),
    CONSTRAINT partner_decisions_what_known CHECK (what IN ('again', 'done_by_hand')),
    CONSTRAINT partner_decisions_two_people CHECK (what = 'again' OR proposer <> approver),
    CONSTRAINT partner_decisions_reason_size CHECK (char_length(reason) BETWEEN 1 AND 500)
);

CREATE INDEX partner_decisions_call_idx ON wallet.partner_decisions (call);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['partner_answers', 'partner_decisions'] LOOP
        EXECUTE format('CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change()', name);
        EXECUTE format('ALTER TABLE wallet.%I ENABLE ALWAYS TRIGGER never_changed', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['partner_lanes', 'partner_calls'] LOOP
        EXECUTE format('CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change()', name);
        EXECUTE format('ALTER TABLE wallet.%I ENABLE ALWAYS TRIGGER never_removed', name);
    END LOOP;
END
$$;

CREATE FUNCTION wallet.grant_partner_calls(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON wallet.partner_lanes, wallet.partner_calls, wallet.partner_answers,'
                   ' wallet.partner_decisions TO %I', service);
    EXECUTE format('GRANT UPDATE (claim, due_at, failing_since, last_number, revision, failures, contradictions, state,'
                   ' operator) ON wallet.partner_lanes TO %I', service);
    EXECUTE format('GRANT UPDATE (undone_by, changed_at, not_before, posted, confirming, state, reason) ON wallet.partner_calls'
                   ' TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_partner_calls(name) FROM PUBLIC;
