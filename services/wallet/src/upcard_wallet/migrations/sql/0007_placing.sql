-- What placing holds needs to know, in one round trip instead of four: every bet waits for it.

-- Takes the rounds' advisory locks, shared, then the balances; then says what is so now. A function's statements each see
-- what was committed before them, so whatever was waited for is seen.
CREATE FUNCTION wallet.begin_placing(
    keys bigint[], books bigint[], round_names text[], command_rounds text[], players text[], bet_ids text[],
    OUT locked_books bigint[], OUT balances bigint[], OUT ended text[], OUT known uuid[]
)
LANGUAGE plpgsql SET search_path = wallet, pg_catalog, pg_temp AS $$
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

REVOKE ALL ON FUNCTION wallet.begin_placing(bigint[], bigint[], text[], text[], text[], text[]) FROM PUBLIC;

CREATE FUNCTION wallet.grant_placing(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION'
                   ' wallet.begin_placing(bigint[], bigint[], text[], text[], text[], text[]) TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_placing(name) FROM PUBLIC;
