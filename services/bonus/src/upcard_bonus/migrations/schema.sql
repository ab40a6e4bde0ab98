-- What the migrations make, in full: for reading, and compared with a migrated database by a test.
-- Made by `python -m tests.bonus.office.schema_dump`.


CREATE SCHEMA bonus;

CREATE FUNCTION bonus.grant_service(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE TABLE bonus.fences (
    expires_at timestamp with time zone NOT NULL,
    jackpot text NOT NULL COLLATE pg_catalog."C",
    round text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE bonus.free_bet_uses (
    amount bigint NOT NULL,
    box integer NOT NULL,
    back boolean DEFAULT false NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    bet_id text NOT NULL COLLATE pg_catalog."C",
    wager text NOT NULL COLLATE pg_catalog."C",
    free_bet text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT free_bet_uses_amount_positive CHECK ((amount > 0))
);

CREATE TABLE bonus.free_bets (
    amount bigint NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    lapsed bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    expired boolean DEFAULT false NOT NULL,
    free_bet text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    wagers text[] NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT free_bets_amount_positive CHECK ((amount > 0)),
    CONSTRAINT free_bets_currency_form CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT free_bets_ids_form CHECK (((free_bet ~ '^[A-Za-z0-9_-]{1,64}$'::text) AND (player ~ '^[A-Za-z0-9_-]{1,64}$'::text))),
    CONSTRAINT free_bets_wagers_known CHECK (((cardinality(wagers) > 0) AND (wagers <@ ARRAY['ante'::text, 'bonus_player'::text, 'bonus_dealer'::text])))
)
WITH (fillfactor='80');

CREATE TABLE bonus.jackpot_tables (
    place integer NOT NULL,
    table_id text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    jackpot text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE bonus.jackpots (
    pool bigint NOT NULL,
    seed bigint NOT NULL,
    must_hit_by bigint,
    size_above bigint,
    size_up_to bigint,
    rounds bigint DEFAULT 0 NOT NULL,
    cycle bigint NOT NULL,
    remainder integer NOT NULL,
    contribution_ppm integer NOT NULL,
    reseed boolean NOT NULL,
    jackpot text NOT NULL COLLATE pg_catalog."C",
    operator text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    commitment text COLLATE pg_catalog."C",
    CONSTRAINT jackpots_contribution_possible CHECK (((contribution_ppm >= 0) AND (contribution_ppm <= 1000000))),
    CONSTRAINT jackpots_currency_form CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT jackpots_ids_form CHECK (((jackpot ~ '^[A-Za-z0-9_-]{1,64}$'::text) AND (operator ~ '^[A-Za-z0-9_-]{1,64}$'::text))),
    CONSTRAINT jackpots_pool_not_negative CHECK ((pool >= 0)),
    CONSTRAINT jackpots_remainder_possible CHECK (((remainder >= 0) AND (remainder <= 999999))),
    CONSTRAINT jackpots_seed_not_negative CHECK ((seed >= 0)),
    CONSTRAINT jackpots_size_whole CHECK ((num_nulls(commitment, size_above, size_up_to) = ANY (ARRAY[0, 3])))
)
WITH (fillfactor='70');

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
    jackpot text NOT NULL COLLATE pg_catalog."C",
    round text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE bonus.pool_shares (
    amount bigint NOT NULL,
    jackpot text NOT NULL COLLATE pg_catalog."C",
    round text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT pool_shares_amount_positive CHECK ((amount > 0))
);

CREATE TABLE bonus.results (
    amount bigint NOT NULL,
    box integer NOT NULL,
    revision integer NOT NULL,
    share_percent integer,
    round text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT results_amount_positive CHECK ((amount >= 0)),
    CONSTRAINT results_share_possible CHECK (((share_percent >= 0) AND (share_percent <= 100)))
);

CREATE TABLE bonus.rounds (
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    corrections integer DEFAULT 0 NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    ruleset text NOT NULL COLLATE pg_catalog."C",
    step text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    jackpots text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    announced integer[] DEFAULT '{}'::integer[] NOT NULL,
    cards jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT rounds_corrections_counted CHECK ((corrections >= 0)),
    CONSTRAINT rounds_round_form CHECK ((round ~ '^[A-Za-z0-9_-]{1,64}[.][1-9][0-9]{0,15}$'::text)),
    CONSTRAINT rounds_step_known CHECK ((step = ANY (ARRAY['open'::text, 'settled'::text, 'cancelled'::text])))
)
WITH (fillfactor='70');

CREATE TABLE bonus.secrets (
    cycle bigint NOT NULL,
    jackpot text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    ciphertext bytea NOT NULL
);

CREATE TABLE bonus.side_bets (
    amount bigint NOT NULL,
    box integer NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    bet_id text NOT NULL COLLATE pg_catalog."C",
    wager text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT side_bets_amount_positive CHECK ((amount > 0)),
    CONSTRAINT side_bets_wager_known CHECK ((wager = ANY (ARRAY['bonus_player'::text, 'bonus_dealer'::text])))
);

CREATE TABLE bonus.waiting_rounds (
    place bigint NOT NULL,
    cause_event uuid NOT NULL,
    jackpot text NOT NULL COLLATE pg_catalog."C",
    round text NOT NULL COLLATE pg_catalog."C",
    correlation_id text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE bonus.waiting_rounds ALTER COLUMN place ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME bonus.waiting_rounds_place_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY bonus.fences
    ADD CONSTRAINT fences_pkey PRIMARY KEY (jackpot, round);

ALTER TABLE ONLY bonus.free_bet_uses
    ADD CONSTRAINT free_bet_uses_pkey PRIMARY KEY (round, player, bet_id, box, wager);

ALTER TABLE ONLY bonus.free_bets
    ADD CONSTRAINT free_bets_pkey PRIMARY KEY (free_bet);

ALTER TABLE ONLY bonus.jackpot_tables
    ADD CONSTRAINT jackpot_tables_pkey PRIMARY KEY (table_id, currency);

ALTER TABLE ONLY bonus.jackpots
    ADD CONSTRAINT jackpots_pkey PRIMARY KEY (jackpot);

ALTER TABLE ONLY bonus.pool_rounds
    ADD CONSTRAINT pool_rounds_pkey PRIMARY KEY (jackpot, round);

ALTER TABLE ONLY bonus.pool_rounds
    ADD CONSTRAINT pool_rounds_place_key UNIQUE (jackpot, place);

ALTER TABLE ONLY bonus.pool_shares
    ADD CONSTRAINT pool_shares_pkey PRIMARY KEY (jackpot, round, player);

ALTER TABLE ONLY bonus.results
    ADD CONSTRAINT results_pkey PRIMARY KEY (round, player, box);

ALTER TABLE ONLY bonus.rounds
    ADD CONSTRAINT rounds_pkey PRIMARY KEY (round);

ALTER TABLE ONLY bonus.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (jackpot, cycle);

ALTER TABLE ONLY bonus.side_bets
    ADD CONSTRAINT side_bets_pkey PRIMARY KEY (round, player, bet_id, box, wager);

ALTER TABLE ONLY bonus.waiting_rounds
    ADD CONSTRAINT waiting_rounds_pkey PRIMARY KEY (jackpot, round);

CREATE INDEX fences_expires_idx ON bonus.fences USING btree (expires_at);

CREATE INDEX fences_round_idx ON bonus.fences USING btree (round);

CREATE INDEX free_bet_uses_free_bet_idx ON bonus.free_bet_uses USING btree (free_bet);

CREATE INDEX free_bets_due_idx ON bonus.free_bets USING btree (expires_at) WHERE (NOT expired);

CREATE INDEX free_bets_player_idx ON bonus.free_bets USING btree (player, free_bet);

CREATE INDEX jackpot_tables_jackpot_idx ON bonus.jackpot_tables USING btree (jackpot, place);

CREATE INDEX jackpots_operator_idx ON bonus.jackpots USING btree (operator, jackpot);

CREATE INDEX pool_rounds_hit_idx ON bonus.pool_rounds USING btree (jackpot, place) WHERE hit;

CREATE INDEX waiting_rounds_place_idx ON bonus.waiting_rounds USING btree (jackpot, place);

ALTER TABLE ONLY bonus.free_bet_uses
    ADD CONSTRAINT free_bet_uses_free_bet_exists FOREIGN KEY (free_bet) REFERENCES bonus.free_bets(free_bet);

ALTER TABLE ONLY bonus.jackpot_tables
    ADD CONSTRAINT jackpot_tables_jackpot_exists FOREIGN KEY (jackpot) REFERENCES bonus.jackpots(jackpot);

REVOKE ALL ON FUNCTION bonus.grant_service(service name) FROM PUBLIC;
