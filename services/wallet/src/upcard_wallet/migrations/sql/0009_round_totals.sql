-- What the table says that a round comes to, in all: compared with the sums of what was settled here.

-- The latest word: of the settlement (number 0), or of the latest correction. `totals` is a list of objects with
-- currency, players, staked and returned. `checked`: it was compared; if it did not agree, `differences` says so.
CREATE TABLE wallet.round_totals (
    cause_event uuid NOT NULL,
    number integer NOT NULL,
    checked boolean NOT NULL DEFAULT false,
    round text COLLATE "C" NOT NULL,
    totals jsonb NOT NULL,
    CONSTRAINT round_totals_pkey PRIMARY KEY (round),
    CONSTRAINT round_totals_number_not_negative CHECK (number >= 0)
) WITH (fillfactor = 80);

CREATE INDEX round_totals_unchecked_idx ON wallet.round_totals (round) WHERE NOT checked;

CREATE FUNCTION wallet.grant_round_totals(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON wallet.round_totals TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_round_totals(name) FROM PUBLIC;
