-- The audit's own tables: how far each book was checked, and what was found not to agree.

CREATE TABLE wallet.audited_books (
    book bigint NOT NULL,
    posting bigint NOT NULL,
    balance bigint NOT NULL,
    CONSTRAINT audited_books_pkey PRIMARY KEY (book)
) WITH (fillfactor = 70);

COMMENT ON COLUMN wallet.audited_books.posting IS 'The balance is the sum of the book''s postings up to this one.';

-- A row for each thing that does not agree, as long as it does not. `subject` is an account, a ledger transaction, or a
-- round and player.
CREATE TABLE wallet.differences (
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expected bigint NOT NULL,
    found bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    account text COLLATE "C",
    round text COLLATE "C",
    CONSTRAINT differences_pkey PRIMARY KEY (kind, subject)
);

-- Rounds that ended up to this moment were looked at for holds that are left.
CREATE TABLE wallet.audited_rounds (
    until timestamptz NOT NULL,
    one boolean NOT NULL DEFAULT true,
    CONSTRAINT audited_rounds_pkey PRIMARY KEY (one),
    CONSTRAINT audited_rounds_one_row CHECK (one)
);

INSERT INTO wallet.audited_rounds (until) VALUES (clock_timestamp());

CREATE FUNCTION wallet.grant_audit(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON wallet.audited_books TO %I', service);
    EXECUTE format('GRANT SELECT, UPDATE ON wallet.audited_rounds TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.differences TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_audit(name) FROM PUBLIC;
