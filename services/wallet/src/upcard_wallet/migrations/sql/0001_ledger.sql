-- The ledger: accounts, books, transactions and their postings. Double entry is the database's own rule: whatever
-- inserts postings, a transaction of them sums to zero in each currency, and nothing here is ever changed.
-- Amounts are whole minor units. What we owe somebody is positive, what somebody owes us is negative.

CREATE SCHEMA wallet;

-- One player of an operator in one currency.
CREATE TABLE wallet.accounts (
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    account text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    purse text COLLATE "C" NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (account),
    CONSTRAINT accounts_player_currency_key UNIQUE (player, currency),
    CONSTRAINT accounts_ids_form CHECK (
        account ~ '^[A-Za-z0-9_-]{1,64}$' AND player ~ '^[A-Za-z0-9_-]{1,64}$' AND operator ~ '^[A-Za-z0-9_-]{1,64}$'
    ),
    CONSTRAINT accounts_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT accounts_purse_known CHECK (purse IN ('internal', 'seamless'))
);

-- `owner`: an account (player_cash, player_held, player_receivable), a free bet (player_promo), a pool (jackpot), else
-- an operator. `account` is set for a player's books alone, those of his free bets included.
CREATE TABLE wallet.books (
    book bigint GENERATED ALWAYS AS IDENTITY,
    kind text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL,
    account text COLLATE "C",
    CONSTRAINT books_pkey PRIMARY KEY (book),
    CONSTRAINT books_owner_kind_key UNIQUE (owner, kind, currency),
    CONSTRAINT books_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts (account),
    CONSTRAINT books_kind_known CHECK (kind IN (
        'player_cash', 'player_held', 'player_promo', 'player_receivable',
        'operator', 'cashier', 'house', 'jackpot', 'tips', 'suspense'
    )),
    CONSTRAINT books_owner_form CHECK (owner ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT books_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT books_of_a_player CHECK ((kind LIKE 'player%') = (account IS NOT NULL))
);

CREATE INDEX books_account_idx ON wallet.books (account) WHERE account IS NOT NULL;

-- Books that have a limit, kept up to date by the postings' trigger alone: a player's and a jackpot's never go below
-- zero, a receivable never above it. All other books are summed apart (`book_totals`): no row that everyone waits for.
CREATE TABLE wallet.balances (
    book bigint NOT NULL,
    balance bigint NOT NULL DEFAULT 0,
    owed boolean NOT NULL DEFAULT false,
    CONSTRAINT balances_pkey PRIMARY KEY (book),
    CONSTRAINT balances_book_exists FOREIGN KEY (book) REFERENCES wallet.books (book),
    CONSTRAINT balances_within_limit CHECK (CASE WHEN owed THEN balance <= 0 ELSE balance >= 0 END)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- `made_in` is the database transaction that made it: postings come in that one or never.
CREATE TABLE wallet.transactions (
    transaction uuid NOT NULL,
    made_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    cause_event uuid,
    event uuid NOT NULL,
    revision integer,
    kind text COLLATE "C" NOT NULL,
    business_key text COLLATE "C" NOT NULL,
    account text COLLATE "C",
    round text COLLATE "C",
    CONSTRAINT transactions_pkey PRIMARY KEY (transaction),
    CONSTRAINT transactions_business_key_key UNIQUE (business_key),
    CONSTRAINT transactions_kind_size CHECK (char_length(kind) BETWEEN 1 AND 40),
    CONSTRAINT transactions_business_key_size CHECK (char_length(business_key) BETWEEN 1 AND 400),
    CONSTRAINT transactions_revision_positive CHECK (revision > 0)
);

COMMENT ON COLUMN wallet.transactions.event IS 'The wallet''s own event that tells of it, in an `account-` stream.';
COMMENT ON COLUMN wallet.transactions.cause_event IS 'The event of another service that led to it, if one did.';

CREATE INDEX transactions_account_idx ON wallet.transactions (account, recorded_at) WHERE account IS NOT NULL;
CREATE INDEX transactions_round_idx ON wallet.transactions (round, account) WHERE round IS NOT NULL;

CREATE TABLE wallet.postings (
    posting bigint GENERATED ALWAYS AS IDENTITY,
    transaction uuid NOT NULL,
    book bigint NOT NULL,
    amount bigint NOT NULL,
    currency text COLLATE "C" NOT NULL,
    CONSTRAINT postings_pkey PRIMARY KEY (posting),
    CONSTRAINT postings_amount_not_zero CHECK (amount <> 0)
);

CREATE INDEX postings_transaction_idx ON wallet.postings (transaction);
CREATE INDEX postings_book_idx ON wallet.postings (book, posting) INCLUDE (amount);

-- What was posted to books without a row in `balances`, a row a statement and book; `sum_up` moves it to `book_totals`.
CREATE TABLE wallet.book_changes (
    change bigint GENERATED ALWAYS AS IDENTITY,
    book bigint NOT NULL,
    amount bigint NOT NULL,
    last_posting bigint NOT NULL,
    CONSTRAINT book_changes_pkey PRIMARY KEY (change)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE wallet.book_totals (
    book bigint NOT NULL,
    balance bigint NOT NULL DEFAULT 0,
    last_posting bigint NOT NULL DEFAULT 0,
    CONSTRAINT book_totals_pkey PRIMARY KEY (book),
    CONSTRAINT book_totals_book_exists FOREIGN KEY (book) REFERENCES wallet.books (book)
);
