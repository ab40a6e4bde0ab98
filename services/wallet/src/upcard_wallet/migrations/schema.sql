-- What the migrations make, in full: for reading, and compared with a migrated database by a test.
-- Made by `python -m tests.wallet.ledger.schema_dump`.


CREATE SCHEMA wallet;

CREATE FUNCTION wallet.begin_balances() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO balances (book, owed)
    SELECT n.book, n.kind = 'player_receivable' FROM new_books AS n
     WHERE n.kind IN ('player_cash', 'player_held', 'player_promo', 'player_receivable', 'jackpot')
     ORDER BY n.book;
    RETURN NULL;
END
$$;

CREATE FUNCTION wallet.begin_placing(keys bigint[], books bigint[], round_names text[], command_rounds text[], players text[], bet_ids text[], OUT locked_books bigint[], OUT balances bigint[], OUT ended text[], OUT known uuid[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM count(*) FROM (SELECT u.key FROM unnest(keys) AS u (key) ORDER BY u.key OFFSET 0) AS s
      WHERE pg_advisory_xact_lock_shared(s.key)::text = '';
    SELECT array_agg(b.book), array_agg(b.balance) INTO locked_books, balances FROM lock_balances(books) AS b;
    SELECT array_agg(r.round) INTO ended FROM rounds AS r WHERE r.round = ANY (round_names);
    SELECT array_agg(h.hold) INTO known
      FROM unnest(command_rounds, players, bet_ids) AS u (round, player, bet_id)
      JOIN holds AS h USING (round, player, bet_id);
END
$$;

CREATE FUNCTION wallet.check_holds() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION wallet.check_postings() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION wallet.grant_audit(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON wallet.audited_books TO %I', service);
    EXECUTE format('GRANT SELECT, UPDATE ON wallet.audited_rounds TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.differences TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_calls(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON wallet.adjustment_proposals, wallet.adjustment_decisions TO %I', service);
    EXECUTE format('GRANT SELECT ON public.applied_migrations TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_old_holds(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.hold_questions TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_parked_endings(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON wallet.parked_proposals, wallet.parked_verdicts TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_partner_calls(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON wallet.partner_lanes, wallet.partner_calls, wallet.partner_answers,'
                   ' wallet.partner_decisions TO %I', service);
    EXECUTE format('GRANT UPDATE (claim, due_at, failing_since, last_number, revision, failures, contradictions, state,'
                   ' operator) ON wallet.partner_lanes TO %I', service);
    EXECUTE format('GRANT UPDATE (undone_by, changed_at, not_before, posted, confirming, state, reason) ON wallet.partner_calls'
                   ' TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_placing(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION'
                   ' wallet.begin_placing(bigint[], bigint[], text[], text[], text[], text[]) TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_pruning(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION wallet.prune_partner_calls(integer, integer, integer) TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_round_totals(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON wallet.round_totals TO %I', service);
END
$$;

CREATE FUNCTION wallet.grant_service(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION wallet.grant_statement_checkpoints(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON wallet.statement_checkpoints TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION wallet.sums_until(text, timestamptz) TO %I', service);
END
$$;

CREATE FUNCTION wallet.lock_balances(wanted bigint[]) RETURNS TABLE(book bigint, balance bigint)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
    SELECT b.book, b.balance FROM balances AS b WHERE b.book = ANY (wanted) ORDER BY b.book FOR NO KEY UPDATE
$$;

CREATE FUNCTION wallet.prune_partner_calls(kept_days integer, most_lanes integer, most_calls integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    over uuid[];
    before constant timestamptz := clock_timestamp() - make_interval(days => kept_days);
BEGIN
    IF kept_days < 90 THEN
        RAISE EXCEPTION 'calls to partners are kept for 90 days or longer, not %', kept_days
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT array_agg(l.lane) INTO over FROM (
        SELECT lanes.lane FROM partner_lanes AS lanes
         WHERE lanes.lane IN (
            SELECT old.lane FROM (
                SELECT c.lane FROM partner_calls AS c JOIN partner_lanes AS l USING (lane)
                 WHERE c.recorded_at < before AND l.state = 'idle'
                   AND NOT EXISTS (SELECT FROM partner_calls AS d JOIN partner_decisions USING (call)
                                    WHERE d.lane = c.lane)
                   AND NOT EXISTS (SELECT FROM partner_calls AS d JOIN parked_proposals USING (call)
                                    WHERE d.lane = c.lane)
                 ORDER BY c.recorded_at LIMIT most_calls
            ) AS old)
           AND lanes.state = 'idle'
           AND NOT EXISTS (SELECT FROM partner_calls AS c
                            WHERE c.lane = lanes.lane
                              AND (c.changed_at >= before OR c.state IN ('asking', 'queued', 'parked')))
           AND NOT EXISTS (SELECT FROM holds AS h
                            WHERE h.account = lanes.account AND h.round = lanes.round
                              AND h.state IN ('requested', 'held', 'unknown'))
         ORDER BY lanes.lane LIMIT most_lanes FOR UPDATE SKIP LOCKED
    ) AS l;
    IF over IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM set_config('upcard_wallet.pruning', 'on', true);
    DELETE FROM partner_answers AS a USING partner_calls AS c WHERE c.lane = ANY (over) AND a.call = c.call;
    DELETE FROM partner_calls AS c WHERE c.lane = ANY (over);
    DELETE FROM partner_lanes AS l WHERE l.lane = ANY (over);
    PERFORM set_config('upcard_wallet.pruning', 'off', true);
    RETURN cardinality(over);
END
$$;

CREATE FUNCTION wallet.refuse_adjustment_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'adjustments are only ever added' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE FUNCTION wallet.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION '%.% is never changed: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE FUNCTION wallet.refuse_removal() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('upcard_wallet.pruning', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '%.% is never changed: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE FUNCTION wallet.sum_up(most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION wallet.sums_until(of_account text, before timestamp with time zone) RETURNS TABLE(kind text, amount bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'wallet', 'pg_catalog', 'pg_temp'
    AS $$
    WITH last AS (
        SELECT c.until, c.sums FROM statement_checkpoints AS c
         WHERE c.account = of_account AND c.until <= before AND c.sums IS NOT NULL ORDER BY c.until DESC LIMIT 1
    )
    SELECT s.kind, sum(s.amount)::bigint FROM (
        SELECT k.key AS kind, k.value::bigint AS amount FROM last CROSS JOIN LATERAL jsonb_each_text(last.sums) AS k
         UNION ALL
        SELECT b.kind, p.amount
          FROM transactions AS t JOIN postings AS p USING (transaction) JOIN books AS b USING (book)
         WHERE t.account = of_account AND t.recorded_at < before
           AND t.recorded_at >= coalesce((SELECT last.until FROM last), '-infinity')
           AND (b.account = of_account OR b.kind = 'operator')
    ) AS s GROUP BY s.kind
$$;

CREATE TABLE wallet.accounts (
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    operator text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    purse text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT accounts_currency_form CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT accounts_ids_form CHECK (((account ~ '^[A-Za-z0-9_-]{1,64}$'::text) AND (player ~ '^[A-Za-z0-9_-]{1,64}$'::text) AND (operator ~ '^[A-Za-z0-9_-]{1,64}$'::text))),
    CONSTRAINT accounts_purse_known CHECK ((purse = ANY (ARRAY['internal'::text, 'seamless'::text])))
);

CREATE TABLE wallet.adjustment_decisions (
    adjustment uuid NOT NULL,
    transaction uuid,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    approved boolean NOT NULL,
    proposer text NOT NULL COLLATE pg_catalog."C",
    decided_by text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT adjustment_decisions_decided_by_form CHECK ((decided_by ~ '^staff:[A-Za-z0-9_-]{1,64}$'::text)),
    CONSTRAINT adjustment_decisions_posted CHECK ((approved = (transaction IS NOT NULL))),
    CONSTRAINT adjustment_decisions_two_people CHECK (((NOT approved) OR (decided_by <> proposer)))
);

CREATE TABLE wallet.adjustment_proposals (
    adjustment uuid NOT NULL,
    amount bigint NOT NULL,
    proposed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    book text NOT NULL COLLATE pg_catalog."C",
    against text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    round text COLLATE pg_catalog."C",
    proposer text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT adjustment_proposals_against_known CHECK ((against = ANY (ARRAY['house'::text, 'suspense'::text]))),
    CONSTRAINT adjustment_proposals_amount_not_zero CHECK ((amount <> 0)),
    CONSTRAINT adjustment_proposals_book_known CHECK ((book = ANY (ARRAY['cash'::text, 'receivable'::text]))),
    CONSTRAINT adjustment_proposals_proposer_form CHECK ((proposer ~ '^staff:[A-Za-z0-9_-]{1,64}$'::text)),
    CONSTRAINT adjustment_proposals_reason_size CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 100)))
);

CREATE TABLE wallet.audited_books (
    book bigint NOT NULL,
    posting bigint NOT NULL,
    balance bigint NOT NULL
)
WITH (fillfactor='70');

COMMENT ON COLUMN wallet.audited_books.posting IS 'The balance is the sum of the book''s postings up to this one.';

CREATE TABLE wallet.audited_rounds (
    until timestamp with time zone NOT NULL,
    one boolean DEFAULT true NOT NULL,
    CONSTRAINT audited_rounds_one_row CHECK (one)
);

CREATE TABLE wallet.balances (
    book bigint NOT NULL,
    balance bigint DEFAULT 0 NOT NULL,
    owed boolean DEFAULT false NOT NULL,
    CONSTRAINT balances_within_limit CHECK (
CASE
    WHEN owed THEN (balance <= 0)
    ELSE (balance >= 0)
END)
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE wallet.book_changes (
    change bigint NOT NULL,
    book bigint NOT NULL,
    amount bigint NOT NULL,
    last_posting bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');

ALTER TABLE wallet.book_changes ALTER COLUMN change ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wallet.book_changes_change_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wallet.book_totals (
    book bigint NOT NULL,
    balance bigint DEFAULT 0 NOT NULL,
    last_posting bigint DEFAULT 0 NOT NULL
);

CREATE TABLE wallet.books (
    book bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    account text COLLATE pg_catalog."C",
    CONSTRAINT books_currency_form CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT books_kind_known CHECK ((kind = ANY (ARRAY['player_cash'::text, 'player_held'::text, 'player_promo'::text, 'player_receivable'::text, 'operator'::text, 'cashier'::text, 'house'::text, 'jackpot'::text, 'tips'::text, 'suspense'::text]))),
    CONSTRAINT books_of_a_player CHECK (((kind ~~ 'player%'::text) = (account IS NOT NULL))),
    CONSTRAINT books_owner_form CHECK ((owner ~ '^[A-Za-z0-9_-]{1,64}$'::text))
);

ALTER TABLE wallet.books ALTER COLUMN book ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wallet.books_book_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wallet.differences (
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expected bigint NOT NULL,
    found bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    account text COLLATE pg_catalog."C",
    round text COLLATE pg_catalog."C"
);

CREATE TABLE wallet.hold_questions (
    due_at timestamp with time zone NOT NULL,
    asked integer DEFAULT 1 NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    bet_id text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT hold_questions_asked_positive CHECK ((asked > 0))
);

CREATE TABLE wallet.holds (
    hold uuid NOT NULL,
    amount bigint NOT NULL,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    box integer NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    bet_id text NOT NULL COLLATE pg_catalog."C",
    wager text NOT NULL COLLATE pg_catalog."C",
    funding text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    CONSTRAINT holds_amount_positive CHECK ((amount > 0)),
    CONSTRAINT holds_box_positive CHECK ((box > 0)),
    CONSTRAINT holds_refused_for_a_reason CHECK (((state <> 'refused'::text) OR (reason IS NOT NULL))),
    CONSTRAINT holds_state_known CHECK ((state = ANY (ARRAY['requested'::text, 'held'::text, 'refused'::text, 'unknown'::text, 'settled'::text, 'released'::text])))
)
WITH (fillfactor='80');

CREATE TABLE wallet.parked_proposals (
    proposal uuid NOT NULL,
    call uuid NOT NULL,
    proposed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ending text NOT NULL COLLATE pg_catalog."C",
    proposer text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT parked_proposals_ending_known CHECK ((ending = ANY (ARRAY['done_by_hand'::text, 'owed_by_player'::text]))),
    CONSTRAINT parked_proposals_proposer_form CHECK ((proposer ~ '^staff:[A-Za-z0-9_-]{1,64}$'::text)),
    CONSTRAINT parked_proposals_reason_size CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500)))
);

CREATE TABLE wallet.parked_verdicts (
    proposal uuid NOT NULL,
    transaction uuid,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    approved boolean NOT NULL,
    proposer text NOT NULL COLLATE pg_catalog."C",
    decided_by text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT parked_verdicts_decided_by_form CHECK ((decided_by ~ '^staff:[A-Za-z0-9_-]{1,64}$'::text)),
    CONSTRAINT parked_verdicts_posted_when_approved CHECK ((approved OR (transaction IS NULL))),
    CONSTRAINT parked_verdicts_two_people CHECK (((NOT approved) OR (decided_by <> proposer)))
);

CREATE TABLE wallet.partner_answers (
    answer bigint NOT NULL,
    call uuid NOT NULL,
    noted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    took_ms integer NOT NULL,
    verdict text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL COLLATE pg_catalog."C",
    network uuid,
    CONSTRAINT partner_answers_detail_size CHECK ((char_length(detail) <= 200))
);

COMMENT ON COLUMN wallet.partner_answers.network IS 'The id of this try as the partner got it: its first request''s; further ones follow from it.';

ALTER TABLE wallet.partner_answers ALTER COLUMN answer ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wallet.partner_answers_answer_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wallet.partner_calls (
    call uuid NOT NULL,
    lane uuid NOT NULL,
    undone_by uuid,
    cause_event uuid,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    abandoned_at timestamp with time zone,
    not_before timestamp with time zone,
    total bigint NOT NULL,
    number integer NOT NULL,
    revision integer,
    posted boolean NOT NULL,
    closes_round boolean DEFAULT false NOT NULL,
    confirming boolean DEFAULT false NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    undoes text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    business_ids uuid[] NOT NULL,
    amounts bigint[] NOT NULL,
    command jsonb,
    CONSTRAINT partner_calls_abandoned_of_a_bet CHECK (((kind = 'bet'::text) = (abandoned_at IS NOT NULL))),
    CONSTRAINT partner_calls_command_of_a_bet CHECK (((kind = 'bet'::text) = (command IS NOT NULL))),
    CONSTRAINT partner_calls_kind_known CHECK ((kind = ANY (ARRAY['bet'::text, 'win'::text, 'rollback'::text]))),
    CONSTRAINT partner_calls_state_of_kind CHECK (
CASE kind
    WHEN 'bet'::text THEN (state = ANY (ARRAY['asking'::text, 'accepted'::text, 'refused'::text, 'unknown'::text]))
    ELSE (state = ANY (ARRAY['queued'::text, 'done'::text, 'parked'::text]))
END),
    CONSTRAINT partner_calls_total_not_negative CHECK (((total >= 0) AND ((total > 0) OR (kind = 'win'::text)))),
    CONSTRAINT partner_calls_transactions_match CHECK (((cardinality(business_ids) = cardinality(amounts)) AND ((cardinality(business_ids) >= 1) AND (cardinality(business_ids) <= 1000)))),
    CONSTRAINT partner_calls_undoes_known CHECK ((((kind = 'rollback'::text) = (undoes IS NOT NULL)) AND (undoes = ANY (ARRAY['bet'::text, 'win'::text]))))
)
WITH (fillfactor='80');

COMMENT ON COLUMN wallet.partner_calls.abandoned_at IS 'From when on a bet that is still `asking` is nobody''s: it is rolled back.';

COMMENT ON COLUMN wallet.partner_calls.posted IS 'Whether our ledger has the movement; not that of a rollback that the player owes instead.';

COMMENT ON COLUMN wallet.partner_calls.command IS 'The holds of a bet''s command: what a later process needs to end it.';

CREATE TABLE wallet.partner_decisions (
    decision uuid NOT NULL,
    call uuid NOT NULL,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    proposer text NOT NULL COLLATE pg_catalog."C",
    approver text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT partner_decisions_reason_size CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500))),
    CONSTRAINT partner_decisions_two_people CHECK (((what = 'again'::text) OR (proposer <> approver)))
);

CREATE TABLE wallet.partner_lanes (
    lane uuid NOT NULL,
    claim uuid,
    due_at timestamp with time zone,
    failing_since timestamp with time zone,
    last_number integer DEFAULT 0 NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    contradictions integer DEFAULT 0 NOT NULL,
    state text DEFAULT 'idle'::text NOT NULL COLLATE pg_catalog."C",
    operator text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    round text COLLATE pg_catalog."C",
    CONSTRAINT partner_lanes_claim_while_waiting CHECK (((state = 'waiting'::text) OR (claim IS NULL))),
    CONSTRAINT partner_lanes_due_while_waiting CHECK (((state = 'waiting'::text) = (due_at IS NOT NULL))),
    CONSTRAINT partner_lanes_state_known CHECK ((state = ANY (ARRAY['idle'::text, 'waiting'::text, 'parked'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05');

COMMENT ON COLUMN wallet.partner_lanes.revision IS 'The latest revision of the round''s settlement that was noted here.';

CREATE TABLE wallet.postings (
    posting bigint NOT NULL,
    transaction uuid NOT NULL,
    book bigint NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT postings_amount_not_zero CHECK ((amount <> 0))
);

ALTER TABLE wallet.postings ALTER COLUMN posting ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME wallet.postings_posting_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE wallet.round_totals (
    cause_event uuid NOT NULL,
    number integer NOT NULL,
    checked boolean DEFAULT false NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    totals jsonb NOT NULL,
    CONSTRAINT round_totals_number_not_negative CHECK ((number >= 0))
)
WITH (fillfactor='80');

CREATE TABLE wallet.rounds (
    ended_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    cause_event uuid NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    end_kind text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT rounds_end_kind_known CHECK ((end_kind = ANY (ARRAY['settled'::text, 'cancelled'::text])))
);

CREATE TABLE wallet.settlements (
    cause_event uuid NOT NULL,
    staked bigint NOT NULL,
    returned bigint NOT NULL,
    revision integer NOT NULL,
    round text NOT NULL COLLATE pg_catalog."C",
    player text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    result jsonb NOT NULL,
    CONSTRAINT settlements_revision_positive CHECK ((revision > 0))
);

CREATE TABLE wallet.statement_checkpoints (
    until timestamp with time zone NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    sums jsonb
);

COMMENT ON COLUMN wallet.statement_checkpoints.until IS 'The end of a day (UTC), which is not in it.';

COMMENT ON COLUMN wallet.statement_checkpoints.sums IS 'By kind of book: the sum of all postings before it, minor units.';

CREATE TABLE wallet.transactions (
    transaction uuid NOT NULL,
    made_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    cause_event uuid,
    event uuid NOT NULL,
    revision integer,
    kind text NOT NULL COLLATE pg_catalog."C",
    business_key text NOT NULL COLLATE pg_catalog."C",
    account text COLLATE pg_catalog."C",
    round text COLLATE pg_catalog."C",
    CONSTRAINT transactions_business_key_size CHECK (((char_length(business_key) >= 1) AND (char_length(business_key) <= 400))),
    CONSTRAINT transactions_kind_size CHECK (((char_length(kind) >= 1) AND (char_length(kind) <= 40))),
    CONSTRAINT transactions_revision_positive CHECK ((revision > 0))
);

COMMENT ON COLUMN wallet.transactions.cause_event IS 'The event of another service that led to it, if one did.';

COMMENT ON COLUMN wallet.transactions.event IS 'The wallet''s own event that tells of it, in an `account-` stream.';

CREATE TABLE wallet.unfreed_rounds (
    round text NOT NULL COLLATE pg_catalog."C"
);

CREATE VIEW wallet.unlimited_balances AS
 SELECT b.book,
    b.kind,
    b.owner,
    b.currency,
    (COALESCE(t.balance, (0)::bigint) + COALESCE(c.amount, (0)::bigint)) AS balance
   FROM ((wallet.books b
     LEFT JOIN wallet.book_totals t ON ((t.book = b.book)))
     LEFT JOIN ( SELECT k.book,
            (sum(k.amount))::bigint AS amount
           FROM wallet.book_changes k
          GROUP BY k.book) c ON ((c.book = b.book)))
  WHERE ((b.account IS NULL) AND (b.kind <> 'jackpot'::text));

ALTER TABLE ONLY wallet.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (account);

ALTER TABLE ONLY wallet.accounts
    ADD CONSTRAINT accounts_player_currency_key UNIQUE (player, currency);

ALTER TABLE ONLY wallet.adjustment_decisions
    ADD CONSTRAINT adjustment_decisions_pkey PRIMARY KEY (adjustment);

ALTER TABLE ONLY wallet.adjustment_proposals
    ADD CONSTRAINT adjustment_proposals_pkey PRIMARY KEY (adjustment);

ALTER TABLE ONLY wallet.adjustment_proposals
    ADD CONSTRAINT adjustment_proposals_proposer_key UNIQUE (adjustment, proposer);

ALTER TABLE ONLY wallet.audited_books
    ADD CONSTRAINT audited_books_pkey PRIMARY KEY (book);

ALTER TABLE ONLY wallet.audited_rounds
    ADD CONSTRAINT audited_rounds_pkey PRIMARY KEY (one);

ALTER TABLE ONLY wallet.balances
    ADD CONSTRAINT balances_pkey PRIMARY KEY (book);

ALTER TABLE ONLY wallet.book_changes
    ADD CONSTRAINT book_changes_pkey PRIMARY KEY (change);

ALTER TABLE ONLY wallet.book_totals
    ADD CONSTRAINT book_totals_pkey PRIMARY KEY (book);

ALTER TABLE ONLY wallet.books
    ADD CONSTRAINT books_owner_kind_key UNIQUE (owner, kind, currency);

ALTER TABLE ONLY wallet.books
    ADD CONSTRAINT books_pkey PRIMARY KEY (book);

ALTER TABLE ONLY wallet.differences
    ADD CONSTRAINT differences_pkey PRIMARY KEY (kind, subject);

ALTER TABLE ONLY wallet.hold_questions
    ADD CONSTRAINT hold_questions_pkey PRIMARY KEY (round, player, bet_id);

ALTER TABLE ONLY wallet.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (hold);

ALTER TABLE ONLY wallet.parked_proposals
    ADD CONSTRAINT parked_proposals_pkey PRIMARY KEY (proposal);

ALTER TABLE ONLY wallet.parked_proposals
    ADD CONSTRAINT parked_proposals_proposer_key UNIQUE (proposal, proposer);

ALTER TABLE ONLY wallet.parked_verdicts
    ADD CONSTRAINT parked_verdicts_pkey PRIMARY KEY (proposal);

ALTER TABLE ONLY wallet.partner_answers
    ADD CONSTRAINT partner_answers_pkey PRIMARY KEY (answer);

ALTER TABLE ONLY wallet.partner_calls
    ADD CONSTRAINT partner_calls_lane_number_key UNIQUE (lane, number);

ALTER TABLE ONLY wallet.partner_calls
    ADD CONSTRAINT partner_calls_pkey PRIMARY KEY (call);

ALTER TABLE ONLY wallet.partner_decisions
    ADD CONSTRAINT partner_decisions_pkey PRIMARY KEY (decision);

ALTER TABLE wallet.partner_decisions
    ADD CONSTRAINT partner_decisions_what_known CHECK ((what = ANY (ARRAY['again'::text, 'done_by_hand'::text, 'owed_by_player'::text]))) NOT VALID;

ALTER TABLE ONLY wallet.partner_lanes
    ADD CONSTRAINT partner_lanes_pkey PRIMARY KEY (lane);

ALTER TABLE ONLY wallet.postings
    ADD CONSTRAINT postings_pkey PRIMARY KEY (posting);

ALTER TABLE ONLY wallet.round_totals
    ADD CONSTRAINT round_totals_pkey PRIMARY KEY (round);

ALTER TABLE ONLY wallet.rounds
    ADD CONSTRAINT rounds_pkey PRIMARY KEY (round);

ALTER TABLE ONLY wallet.settlements
    ADD CONSTRAINT settlements_pkey PRIMARY KEY (round, player, revision);

ALTER TABLE ONLY wallet.statement_checkpoints
    ADD CONSTRAINT statement_checkpoints_pkey PRIMARY KEY (account, until);

ALTER TABLE ONLY wallet.transactions
    ADD CONSTRAINT transactions_business_key_key UNIQUE (business_key);

ALTER TABLE ONLY wallet.transactions
    ADD CONSTRAINT transactions_pkey PRIMARY KEY (transaction);

ALTER TABLE ONLY wallet.unfreed_rounds
    ADD CONSTRAINT unfreed_rounds_pkey PRIMARY KEY (round);

CREATE INDEX accounts_operator_idx ON wallet.accounts USING btree (operator, account);

CREATE INDEX books_account_idx ON wallet.books USING btree (account) WHERE (account IS NOT NULL);

CREATE INDEX holds_command_idx ON wallet.holds USING btree (round, player, bet_id);

CREATE INDEX holds_open_idx ON wallet.holds USING btree (account) WHERE (state = ANY (ARRAY['requested'::text, 'held'::text, 'unknown'::text]));

CREATE INDEX parked_proposals_call_idx ON wallet.parked_proposals USING btree (call);

CREATE INDEX partner_answers_call_idx ON wallet.partner_answers USING btree (call);

CREATE INDEX partner_calls_asking_idx ON wallet.partner_calls USING btree (abandoned_at) WHERE (state = 'asking'::text);

CREATE INDEX partner_calls_open_idx ON wallet.partner_calls USING btree (lane, number) WHERE (state = ANY (ARRAY['queued'::text, 'parked'::text]));

CREATE INDEX partner_calls_recorded_idx ON wallet.partner_calls USING btree (recorded_at);

CREATE INDEX partner_decisions_call_idx ON wallet.partner_decisions USING btree (call);

CREATE INDEX partner_lanes_due_idx ON wallet.partner_lanes USING btree (operator, due_at) WHERE (state = 'waiting'::text);

CREATE INDEX partner_lanes_parked_idx ON wallet.partner_lanes USING btree (operator, lane) WHERE (state = 'parked'::text);

CREATE INDEX partner_lanes_round_idx ON wallet.partner_lanes USING btree (round) WHERE (round IS NOT NULL);

CREATE INDEX postings_book_idx ON wallet.postings USING btree (book, posting) INCLUDE (amount);

CREATE INDEX postings_transaction_idx ON wallet.postings USING btree (transaction);

CREATE INDEX round_totals_unchecked_idx ON wallet.round_totals USING btree (round) WHERE (NOT checked);

CREATE INDEX rounds_ended_idx ON wallet.rounds USING btree (ended_at);

CREATE INDEX statement_checkpoints_due_idx ON wallet.statement_checkpoints USING btree (until, account) WHERE (sums IS NULL);

CREATE INDEX transactions_account_idx ON wallet.transactions USING btree (account, recorded_at) WHERE (account IS NOT NULL);

CREATE INDEX transactions_round_idx ON wallet.transactions USING btree (round, account) WHERE (round IS NOT NULL);

CREATE TRIGGER balanced AFTER INSERT ON wallet.postings REFERENCING NEW TABLE AS new_postings FOR EACH STATEMENT EXECUTE FUNCTION wallet.check_postings();

ALTER TABLE wallet.postings ENABLE ALWAYS TRIGGER balanced;

CREATE TRIGGER balances_begin AFTER INSERT ON wallet.books REFERENCING NEW TABLE AS new_books FOR EACH STATEMENT EXECUTE FUNCTION wallet.begin_balances();

ALTER TABLE wallet.books ENABLE ALWAYS TRIGGER balances_begin;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.accounts FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.accounts ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.books FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.books ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.partner_answers FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_removal();

ALTER TABLE wallet.partner_answers ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.partner_decisions FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.partner_decisions ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.postings FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.postings ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.rounds FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.rounds ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.settlements FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.settlements ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.transactions FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.transactions ENABLE ALWAYS TRIGGER never_changed;

CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.balances FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.balances ENABLE ALWAYS TRIGGER never_removed;

CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.holds FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.holds ENABLE ALWAYS TRIGGER never_removed;

CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.partner_calls FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_removal();

ALTER TABLE wallet.partner_calls ENABLE ALWAYS TRIGGER never_removed;

CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.partner_lanes FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_removal();

ALTER TABLE wallet.partner_lanes ENABLE ALWAYS TRIGGER never_removed;

CREATE TRIGGER only_added BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.adjustment_decisions FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_adjustment_change();

ALTER TABLE wallet.adjustment_decisions ENABLE ALWAYS TRIGGER only_added;

CREATE TRIGGER only_added BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.adjustment_proposals FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_adjustment_change();

ALTER TABLE wallet.adjustment_proposals ENABLE ALWAYS TRIGGER only_added;

CREATE TRIGGER only_added BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.parked_proposals FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.parked_proposals ENABLE ALWAYS TRIGGER only_added;

CREATE TRIGGER only_added BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet.parked_verdicts FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_change();

ALTER TABLE wallet.parked_verdicts ENABLE ALWAYS TRIGGER only_added;

CREATE TRIGGER states AFTER UPDATE ON wallet.holds REFERENCING OLD TABLE AS old_holds NEW TABLE AS new_holds FOR EACH STATEMENT EXECUTE FUNCTION wallet.check_holds();

ALTER TABLE wallet.holds ENABLE ALWAYS TRIGGER states;

ALTER TABLE ONLY wallet.adjustment_decisions
    ADD CONSTRAINT adjustment_decisions_proposal_exists FOREIGN KEY (adjustment, proposer) REFERENCES wallet.adjustment_proposals(adjustment, proposer);

ALTER TABLE ONLY wallet.adjustment_decisions
    ADD CONSTRAINT adjustment_decisions_transaction_exists FOREIGN KEY (transaction) REFERENCES wallet.transactions(transaction);

ALTER TABLE ONLY wallet.adjustment_proposals
    ADD CONSTRAINT adjustment_proposals_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts(account);

ALTER TABLE ONLY wallet.balances
    ADD CONSTRAINT balances_book_exists FOREIGN KEY (book) REFERENCES wallet.books(book);

ALTER TABLE ONLY wallet.book_totals
    ADD CONSTRAINT book_totals_book_exists FOREIGN KEY (book) REFERENCES wallet.books(book);

ALTER TABLE ONLY wallet.books
    ADD CONSTRAINT books_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts(account);

ALTER TABLE ONLY wallet.holds
    ADD CONSTRAINT holds_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts(account);

ALTER TABLE ONLY wallet.parked_proposals
    ADD CONSTRAINT parked_proposals_call_exists FOREIGN KEY (call) REFERENCES wallet.partner_calls(call);

ALTER TABLE ONLY wallet.parked_verdicts
    ADD CONSTRAINT parked_verdicts_proposal_exists FOREIGN KEY (proposal, proposer) REFERENCES wallet.parked_proposals(proposal, proposer);

ALTER TABLE ONLY wallet.parked_verdicts
    ADD CONSTRAINT parked_verdicts_transaction_exists FOREIGN KEY (transaction) REFERENCES wallet.transactions(transaction);

ALTER TABLE ONLY wallet.partner_answers
    ADD CONSTRAINT partner_answers_call_exists FOREIGN KEY (call) REFERENCES wallet.partner_calls(call);

ALTER TABLE ONLY wallet.partner_calls
    ADD CONSTRAINT partner_calls_lane_exists FOREIGN KEY (lane) REFERENCES wallet.partner_lanes(lane);

ALTER TABLE ONLY wallet.partner_decisions
    ADD CONSTRAINT partner_decisions_call_exists FOREIGN KEY (call) REFERENCES wallet.partner_calls(call);

ALTER TABLE ONLY wallet.partner_lanes
    ADD CONSTRAINT partner_lanes_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts(account);

ALTER TABLE ONLY wallet.settlements
    ADD CONSTRAINT settlements_account_exists FOREIGN KEY (account) REFERENCES wallet.accounts(account);

ALTER TABLE ONLY wallet.unfreed_rounds
    ADD CONSTRAINT unfreed_rounds_is_over FOREIGN KEY (round) REFERENCES wallet.rounds(round);

REVOKE ALL ON FUNCTION wallet.begin_balances() FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.begin_placing(keys bigint[], books bigint[], round_names text[], command_rounds text[], players text[], bet_ids text[], OUT locked_books bigint[], OUT balances bigint[], OUT ended text[], OUT known uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.check_holds() FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.check_postings() FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_audit(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_calls(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_old_holds(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_parked_endings(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_partner_calls(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_placing(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_pruning(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_round_totals(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_service(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.grant_statement_checkpoints(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.lock_balances(wanted bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.prune_partner_calls(kept_days integer, most_lanes integer, most_calls integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.refuse_adjustment_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.refuse_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.refuse_removal() FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.sum_up(most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION wallet.sums_until(of_account text, before timestamp with time zone) FROM PUBLIC;
