-- Where a statement's opening balance begins to be summed: what an account had at the end of a day, one row a day on
-- which something was posted. A row without sums is still to be made. A missing row costs time alone: the sums are made
-- of the row before, and of everything after it.

CREATE TABLE wallet.statement_checkpoints (
    until timestamptz NOT NULL,
    account text COLLATE "C" NOT NULL,
    sums jsonb,
    CONSTRAINT statement_checkpoints_pkey PRIMARY KEY (account, until)
);

COMMENT ON COLUMN wallet.statement_checkpoints.until IS 'The end of a day (UTC), which is not in it.';
COMMENT ON COLUMN wallet.statement_checkpoints.sums IS 'By kind of book: the sum of all postings before it, minor units.';

CREATE INDEX statement_checkpoints_due_idx ON wallet.statement_checkpoints (until, account) WHERE sums IS NULL;

-- What an account had at an instant, by kind of book: its own books, and its operator's where the money lies with a
-- partner.
CREATE FUNCTION wallet.sums_until(of_account text, before timestamptz) RETURNS TABLE (kind text, amount bigint)
LANGUAGE sql STABLE SET search_path = wallet, pg_catalog, pg_temp AS $$
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

REVOKE ALL ON FUNCTION wallet.sums_until(text, timestamptz) FROM PUBLIC;

CREATE FUNCTION wallet.grant_statement_checkpoints(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON wallet.statement_checkpoints TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION wallet.sums_until(text, timestamptz) TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_statement_checkpoints(name) FROM PUBLIC;
