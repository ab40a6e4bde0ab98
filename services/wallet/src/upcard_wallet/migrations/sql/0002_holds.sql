-- Holds: money set aside for one wager of one box, and the rounds that they belong to.

CREATE TABLE wallet.holds (
    hold uuid NOT NULL,
    amount bigint NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    box integer NOT NULL,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    bet_id text COLLATE "C" NOT NULL,
    wager text COLLATE "C" NOT NULL,
    funding text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    CONSTRAINT holds_pkey PRIMARY KEY (hold),
    CONSTRAINT holds_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts (account),
    CONSTRAINT holds_amount_positive CHECK (amount > 0),
    CONSTRAINT holds_box_positive CHECK (box > 0),
    CONSTRAINT holds_state_known CHECK (state IN ('requested', 'held', 'refused', 'unknown', 'settled', 'released')),
    CONSTRAINT holds_refused_for_a_reason CHECK (state <> 'refused' OR reason IS NOT NULL)
) WITH (fillfactor = 80);

CREATE INDEX holds_command_idx ON wallet.holds (round, player, bet_id);
-- What is not over yet: few, however many holds there have been.
CREATE INDEX holds_open_idx ON wallet.holds (account) WHERE state IN ('requested', 'held', 'unknown');

-- A round that is over. Written under the round's advisory lock, exclusive; placing a hold takes it shared.
CREATE TABLE wallet.rounds (
    ended_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    cause_event uuid NOT NULL,
    round text COLLATE "C" NOT NULL,
    end_kind text COLLATE "C" NOT NULL,
    CONSTRAINT rounds_pkey PRIMARY KEY (round),
    CONSTRAINT rounds_end_kind_known CHECK (end_kind IN ('settled', 'cancelled'))
);

CREATE INDEX rounds_ended_idx ON wallet.rounds (ended_at);

-- Rounds that are over and had more holds than one transaction frees.
CREATE TABLE wallet.unfreed_rounds (
    round text COLLATE "C" NOT NULL,
    CONSTRAINT unfreed_rounds_pkey PRIMARY KEY (round),
    CONSTRAINT unfreed_rounds_is_over FOREIGN KEY (round) REFERENCES wallet.rounds (round)
);

-- One player's result of a round in one revision, as it was posted; the next revision takes it back.
CREATE TABLE wallet.settlements (
    cause_event uuid NOT NULL,
    staked bigint NOT NULL,
    returned bigint NOT NULL,
    revision integer NOT NULL,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    result jsonb NOT NULL,
    CONSTRAINT settlements_pkey PRIMARY KEY (round, player, revision),
    CONSTRAINT settlements_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts (account),
    CONSTRAINT settlements_revision_positive CHECK (revision > 0)
);
