-- Side bets, jackpots and free bets as they stand now; what happened is in the log, in the streams `bonus-`, `jackpot-`
-- and `freebet-`. Amounts are whole minor units. Whoever changes a jackpot or a free bet locks its row first, so its
-- stream has one order, and several jackpots are locked in the order of their ids.

CREATE SCHEMA bonus;

-- A round as far as side bets go. `cards`: those that everybody may see, by place. `announced`: boxes whose B, and 0 if D,
-- is decided. `jackpots`: to which its table contributed when it was opened.
CREATE TABLE bonus.rounds (
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    corrections integer NOT NULL DEFAULT 0,
    round text COLLATE "C" NOT NULL,
    ruleset text COLLATE "C" NOT NULL,
    step text COLLATE "C" NOT NULL DEFAULT 'open',
    jackpots text [] COLLATE "C" NOT NULL DEFAULT '{}',
    announced integer [] NOT NULL DEFAULT '{}',
    cards jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT rounds_pkey PRIMARY KEY (round),
    CONSTRAINT rounds_round_form CHECK (round ~ '^[A-Za-z0-9_-]{1,64}[.][1-9][0-9]{0,15}$'),
    CONSTRAINT rounds_step_known CHECK (step IN ('open', 'settled', 'cancelled')),
    CONSTRAINT rounds_corrections_counted CHECK (corrections >= 0)
) WITH (fillfactor = 70);

-- Stakes on B and D that stand.
CREATE TABLE bonus.side_bets (
    amount bigint NOT NULL,
    box integer NOT NULL,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    bet_id text COLLATE "C" NOT NULL,
    wager text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    CONSTRAINT side_bets_pkey PRIMARY KEY (round, player, bet_id, box, wager),
    CONSTRAINT side_bets_wager_known CHECK (wager IN ('bonus_player', 'bonus_dealer')),
    CONSTRAINT side_bets_amount_positive CHECK (amount > 0)
);

-- What each box staked on B and won of a pool, by the player's latest revision; of rounds that contribute alone.
CREATE TABLE bonus.results (
    amount bigint NOT NULL,
    box integer NOT NULL,
    revision integer NOT NULL,
    share_percent integer,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    CONSTRAINT results_pkey PRIMARY KEY (round, player, box),
    CONSTRAINT results_amount_positive CHECK (amount >= 0),
    CONSTRAINT results_share_possible CHECK (share_percent BETWEEN 0 AND 100)
);

-- `remainder`: millionths of a minor unit. `size_*`: of this cycle's secret size, all null without one. `rounds`: how many
-- have had an effect on it.
CREATE TABLE bonus.jackpots (
    pool bigint NOT NULL,
    seed bigint NOT NULL,
    must_hit_by bigint,
    size_above bigint,
    size_up_to bigint,
    rounds bigint NOT NULL DEFAULT 0,
    cycle bigint NOT NULL,
    remainder integer NOT NULL,
    contribution_ppm integer NOT NULL,
    reseed boolean NOT NULL,
    jackpot text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    commitment text COLLATE "C",
    CONSTRAINT jackpots_pkey PRIMARY KEY (jackpot),
    CONSTRAINT jackpots_pool_not_negative CHECK (pool >= 0),
    CONSTRAINT jackpots_seed_not_negative CHECK (seed >= 0),
    CONSTRAINT jackpots_remainder_possible CHECK (remainder BETWEEN 0 AND 999999),
    CONSTRAINT jackpots_contribution_possible CHECK (contribution_ppm BETWEEN 0 AND 1000000),
    CONSTRAINT jackpots_size_whole CHECK (
        num_nulls(commitment, size_above, size_up_to) IN (0, 3)
    ),
    CONSTRAINT jackpots_ids_form CHECK (
        jackpot ~ '^[A-Za-z0-9_-]{1,64}$' AND operator ~ '^[A-Za-z0-9_-]{1,64}$'
    ),
    CONSTRAINT jackpots_currency_form CHECK (currency ~ '^[A-Z]{3}$')
) WITH (fillfactor = 70);

CREATE INDEX jackpots_operator_idx ON bonus.jackpots (operator, jackpot);

-- A table contributes to one jackpot a currency.
CREATE TABLE bonus.jackpot_tables (
    place integer NOT NULL,
    table_id text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    jackpot text COLLATE "C" NOT NULL,
    CONSTRAINT jackpot_tables_pkey PRIMARY KEY (table_id, currency),
    CONSTRAINT jackpot_tables_jackpot_exists FOREIGN KEY (jackpot) REFERENCES bonus.jackpots (jackpot)
);

CREATE INDEX jackpot_tables_jackpot_idx ON bonus.jackpot_tables (jackpot, place);

-- What each cycle's secret size is made from, encrypted; bound to its jackpot and cycle.
CREATE TABLE bonus.secrets (
    cycle bigint NOT NULL,
    jackpot text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    ciphertext bytea NOT NULL,
    CONSTRAINT secrets_pkey PRIMARY KEY (jackpot, cycle)
);

-- What settled rounds have done to a pool, corrections included, in the order of its stream.
CREATE TABLE bonus.pool_rounds (
    place bigint NOT NULL,
    staked bigint NOT NULL,
    contributed bigint NOT NULL,
    from_pool bigint NOT NULL,
    seeded bigint NOT NULL,
    ppm integer NOT NULL,
    corrections integer NOT NULL,
    hit boolean NOT NULL,
    size_hit boolean NOT NULL,
    jackpot text COLLATE "C" NOT NULL,
    round text COLLATE "C" NOT NULL,
    CONSTRAINT pool_rounds_pkey PRIMARY KEY (jackpot, round),
    CONSTRAINT pool_rounds_place_key UNIQUE (jackpot, place)
);

CREATE INDEX pool_rounds_hit_idx ON bonus.pool_rounds (jackpot, place) WHERE hit;

-- What each winner has of a round's hits, the house's part included.
CREATE TABLE bonus.pool_shares (
    amount bigint NOT NULL,
    jackpot text COLLATE "C" NOT NULL,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    CONSTRAINT pool_shares_pkey PRIMARY KEY (jackpot, round, player),
    CONSTRAINT pool_shares_amount_positive CHECK (amount > 0)
);

CREATE TABLE bonus.fences (
    expires_at timestamptz NOT NULL,
    jackpot text COLLATE "C" NOT NULL,
    round text COLLATE "C" NOT NULL,
    CONSTRAINT fences_pkey PRIMARY KEY (jackpot, round)
);

CREATE INDEX fences_expires_idx ON bonus.fences (expires_at);
CREATE INDEX fences_round_idx ON bonus.fences (round);

-- Settled rounds that wait for a pool's fences, in their order; `cause_event` settled them.
CREATE TABLE bonus.waiting_rounds (
    place bigint GENERATED ALWAYS AS IDENTITY,
    cause_event uuid NOT NULL,
    jackpot text COLLATE "C" NOT NULL,
    round text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    CONSTRAINT waiting_rounds_pkey PRIMARY KEY (jackpot, round)
);

CREATE INDEX waiting_rounds_place_idx ON bonus.waiting_rounds (jackpot, place);

CREATE TABLE bonus.free_bets (
    amount bigint NOT NULL,
    used bigint NOT NULL DEFAULT 0,
    lapsed bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL,
    expired boolean NOT NULL DEFAULT false,
    free_bet text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    wagers text [] COLLATE "C" NOT NULL,
    CONSTRAINT free_bets_pkey PRIMARY KEY (free_bet),
    CONSTRAINT free_bets_amount_positive CHECK (amount > 0),
    CONSTRAINT free_bets_ids_form CHECK (
        free_bet ~ '^[A-Za-z0-9_-]{1,64}$' AND player ~ '^[A-Za-z0-9_-]{1,64}$'
    ),
    CONSTRAINT free_bets_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT free_bets_wagers_known CHECK (
        cardinality(wagers) > 0 AND wagers <@ ARRAY['ante', 'bonus_player', 'bonus_dealer']
    )
) WITH (fillfactor = 80);

CREATE INDEX free_bets_player_idx ON bonus.free_bets (player, free_bet);
CREATE INDEX free_bets_due_idx ON bonus.free_bets (expires_at) WHERE NOT expired;

-- Wagers that free bets paid; `back`: it came back.
CREATE TABLE bonus.free_bet_uses (
    amount bigint NOT NULL,
    box integer NOT NULL,
    back boolean NOT NULL DEFAULT false,
    round text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    bet_id text COLLATE "C" NOT NULL,
    wager text COLLATE "C" NOT NULL,
    free_bet text COLLATE "C" NOT NULL,
    CONSTRAINT free_bet_uses_pkey PRIMARY KEY (round, player, bet_id, box, wager),
    CONSTRAINT free_bet_uses_free_bet_exists FOREIGN KEY (free_bet) REFERENCES bonus.free_bets (free_bet),
    CONSTRAINT free_bet_uses_amount_positive CHECK (amount > 0)
);

CREATE INDEX free_bet_uses_free_bet_idx ON bonus.free_bet_uses (free_bet);

CREATE FUNCTION bonus.grant_service(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA bonus TO %I', service);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA bonus TO %I', service);
    EXECUTE format('GRANT INSERT ON ALL TABLES IN SCHEMA bonus TO %I', service);
    EXECUTE format('GRANT UPDATE ON bonus.rounds, bonus.results, bonus.jackpots, bonus.pool_rounds, bonus.free_bets,'
                   ' bonus.free_bet_uses TO %I', service);
    EXECUTE format('GRANT DELETE ON bonus.side_bets, bonus.free_bet_uses, bonus.jackpot_tables, bonus.pool_shares,'
                   ' bonus.fences, bonus.waiting_rounds TO %I', service);
    EXECUTE format('GRANT SELECT ON public.applied_migrations TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION bonus.grant_service(name) FROM PUBLIC;
