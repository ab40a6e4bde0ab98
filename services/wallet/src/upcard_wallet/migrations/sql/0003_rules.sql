-- What the database itself refuses, whoever asks: postings that do not sum to zero, changes of what was posted, a
-- balance beyond its limit, a hold that takes a state it may not. And the rights of the service's role.

CREATE FUNCTION wallet.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%.% is never changed: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

-- The balances of these books, locked up to the end of the transaction, in one order for everybody. A function, since a
-- row lock needs the right to update and the service has none.
CREATE FUNCTION wallet.lock_balances(wanted bigint[]) RETURNS TABLE (book bigint, balance bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = wallet, pg_catalog, pg_temp AS $$
    SELECT b.book, b.balance FROM balances AS b WHERE b.book = ANY (wanted) ORDER BY b.book FOR NO KEY UPDATE
$$;

-- After each statement that inserts postings: they are whole transactions, made here and now; each sums to zero; the
-- currencies are those of the books; and the balances follow. So a balance is the sum of its postings, always.
CREATE FUNCTION wallet.check_postings() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = wallet, pg_catalog, pg_temp AS $$
DECLARE
    offender record;
BEGIN
    SELECT p.transaction, p.currency, sum(p.amount) AS total INTO offender
      FROM new_postings AS p GROUP BY p.transaction, p.currency HAVING sum(p.amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'postings of transaction % sum to % %, not to zero',
            offender.transaction, offender.total, offender.currency USING ERRCODE = 'integrity_constraint_violation';
    END IF;

    SELECT n.transaction INTO offender
      FROM (SELECT p.transaction, count(*) AS number FROM new_postings AS p GROUP BY p.transaction) AS n
      LEFT JOIN transactions AS t ON t.transaction = n.transaction AND t.made_in = pg_current_xact_id()
     WHERE t.transaction IS NULL
        OR n.number <> (SELECT count(*) FROM postings AS q WHERE q.transaction = n.transaction)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'transaction % is not a new one: all its postings come at once, with it', offender.transaction
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;

    SELECT n.book, n.currency INTO offender
      FROM (SELECT DISTINCT p.book, p.currency FROM new_postings AS p) AS n
      LEFT JOIN books AS b ON b.book = n.book AND b.currency = n.currency
     WHERE b.book IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'there is no book % in %', offender.book, offender.currency
            USING ERRCODE = 'foreign_key_violation';
    END IF;

    -- Whoever posts has locked these already; if not, the order is the same here.
    PERFORM FROM balances AS b WHERE b.book IN (SELECT p.book FROM new_postings AS p)
      ORDER BY b.book FOR NO KEY UPDATE;
    UPDATE balances AS b SET balance = b.balance + n.amount
      FROM (SELECT p.book, sum(p.amount)::bigint AS amount FROM new_postings AS p GROUP BY p.book) AS n
     WHERE b.book = n.book AND n.amount <> 0;

    INSERT INTO book_changes (book, amount, last_posting)
    SELECT p.book, sum(p.amount), max(p.posting) FROM new_postings AS p
     WHERE NOT EXISTS (SELECT FROM balances AS b WHERE b.book = p.book)
     GROUP BY p.book ORDER BY p.book;
    RETURN NULL;
END
$$;

CREATE TRIGGER balanced AFTER INSERT ON wallet.postings
    REFERENCING NEW TABLE AS new_postings FOR EACH STATEMENT EXECUTE FUNCTION wallet.check_postings();
ALTER TABLE wallet.postings ENABLE ALWAYS TRIGGER balanced;

-- A statement for each table, not a row: a refusal costs nothing where nobody tries.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['transactions', 'postings', 'books', 'accounts', 'settlements', 'rounds'] LOOP
        EXECUTE format('CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change()', name);
        EXECUTE format('ALTER TABLE wallet.%I ENABLE ALWAYS TRIGGER never_changed', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['holds', 'balances'] LOOP
        EXECUTE format('CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change()', name);
        EXECUTE format('ALTER TABLE wallet.%I ENABLE ALWAYS TRIGGER never_removed', name);
    END LOOP;
END
$$;

-- A book of a kind with a limit has its balance from the beginning.
CREATE FUNCTION wallet.begin_balances() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = wallet, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO balances (book, owed)
    SELECT n.book, n.kind = 'player_receivable' FROM new_books AS n
     WHERE n.kind IN ('player_cash', 'player_held', 'player_promo', 'player_receivable', 'jackpot')
     ORDER BY n.book;
    RETURN NULL;
END
$$;

CREATE TRIGGER balances_begin AFTER INSERT ON wallet.books
    REFERENCING NEW TABLE AS new_books FOR EACH STATEMENT EXECUTE FUNCTION wallet.begin_balances();
ALTER TABLE wallet.books ENABLE ALWAYS TRIGGER balances_begin;

-- The states of a hold (domain/holds.py has the same table), and what of a hold never changes.
CREATE FUNCTION wallet.check_holds() RETURNS trigger
LANGUAGE plpgsql SET search_path = wallet, pg_catalog, pg_temp AS $$
DECLARE
    offender record;
BEGIN
    SELECT o.hold, o.state AS before, n.state AS after INTO offender
      FROM old_holds AS o FULL JOIN new_holds AS n USING (hold)
     WHERE n.hold IS NULL OR o.hold IS NULL
        OR (o.state, n.state) NOT IN (('requested', 'held'), ('requested', 'refused'), ('requested', 'unknown'),
                                      ('held', 'settled'), ('held', 'released'), ('unknown', 'released'))
        OR (o.round, o.player, o.account, o.bet_id, o.box, o.wager, o.amount, o.funding, o.requested_at)
           IS DISTINCT FROM
           (n.round, n.player, n.account, n.bet_id, n.box, n.wager, n.amount, n.funding, n.requested_at)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'hold %: % cannot become %', offender.hold, offender.before, offender.after
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER states AFTER UPDATE ON wallet.holds
    REFERENCING OLD TABLE AS old_holds NEW TABLE AS new_holds
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.check_holds();
ALTER TABLE wallet.holds ENABLE ALWAYS TRIGGER states;

-- Moves at most so many changes into the totals; several callers share the work. Returns how many were moved. A book's
-- balance is its total and its changes, read in one statement: exact at every moment, however far this has come.
CREATE FUNCTION wallet.sum_up(most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = wallet, pg_catalog, pg_temp AS $$
DECLARE
    moved integer;
BEGIN
    IF most NOT BETWEEN 1 AND 100000 THEN
        RAISE EXCEPTION 'most is %, not 1 to 100000', most USING ERRCODE = 'invalid_parameter_value';
    END IF;
    WITH taken AS (
        DELETE FROM book_changes AS c WHERE c.change = ANY (ARRAY(
            SELECT d.change FROM book_changes AS d ORDER BY d.change LIMIT most FOR UPDATE SKIP LOCKED
        )) RETURNING c.book, c.amount, c.last_posting
    ), summed AS (
        INSERT INTO book_totals AS t (book, balance, last_posting)
        SELECT k.book, sum(k.amount), max(k.last_posting) FROM taken AS k GROUP BY k.book ORDER BY k.book
        ON CONFLICT (book) DO UPDATE SET balance = t.balance + excluded.balance,
            last_posting = greatest(t.last_posting, excluded.last_posting)
    )
    SELECT count(*) INTO moved FROM taken;
    RETURN moved;
END
$$;

CREATE VIEW wallet.unlimited_balances AS
SELECT b.book, b.kind, b.owner, b.currency, coalesce(t.balance, 0) + coalesce(c.amount, 0) AS balance
  FROM wallet.books AS b
  LEFT JOIN wallet.book_totals AS t ON t.book = b.book
  LEFT JOIN (SELECT k.book, sum(k.amount)::bigint AS amount FROM wallet.book_changes AS k GROUP BY k.book) AS c
    ON c.book = b.book
 WHERE b.account IS NULL AND b.kind <> 'jackpot';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wallet FROM PUBLIC;

CREATE FUNCTION wallet.grant_service(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA wallet TO %I', service);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA wallet TO %I', service);
    EXECUTE format('GRANT INSERT ON wallet.accounts, wallet.books, wallet.holds, wallet.rounds, wallet.settlements,'
                   ' wallet.transactions, wallet.postings TO %I', service);
    EXECUTE format('GRANT INSERT, DELETE ON wallet.unfreed_rounds TO %I', service);
    EXECUTE format('GRANT UPDATE (state, reason, changed_at) ON wallet.holds TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION wallet.lock_balances(bigint[]), wallet.sum_up(integer) TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_service(name) FROM PUBLIC;
