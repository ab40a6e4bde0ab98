-- Calls to partners are kept for as long as they may be disputed; then a lane goes whole, with its calls and answers, once
-- nothing of it is open. What people decided about stays, with its lane.

-- squawk-ignore require-concurrent-index-creation
CREATE INDEX partner_calls_recorded_idx ON wallet.partner_calls (recorded_at);

-- As `refuse_change`, but for what `prune_partner_calls` removes.
CREATE FUNCTION wallet.refuse_removal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('upcard_wallet.pruning', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '%.% is never changed: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

DROP TRIGGER never_removed ON wallet.partner_lanes;
DROP TRIGGER never_removed ON wallet.partner_calls;
DROP TRIGGER never_changed ON wallet.partner_answers;

-- Before the statement, whose rows are not known yet: returning null lets it go on.
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.partner_lanes
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_removal();
ALTER TABLE wallet.partner_lanes ENABLE ALWAYS TRIGGER never_removed;
CREATE TRIGGER never_removed BEFORE DELETE OR TRUNCATE ON wallet.partner_calls
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_removal();
ALTER TABLE wallet.partner_calls ENABLE ALWAYS TRIGGER never_removed;
CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet.partner_answers
    FOR EACH STATEMENT EXECUTE FUNCTION wallet.refuse_removal();
ALTER TABLE wallet.partner_answers ENABLE ALWAYS TRIGGER never_changed;

-- Removes up to so many lanes of which everything has been over for so many days, 90 or more; how many there were. It
-- looks at the oldest calls first, and at no more of them than `most_calls`.
CREATE FUNCTION wallet.prune_partner_calls(kept_days integer, most_lanes integer, most_calls integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = wallet, pg_catalog, pg_temp AS $$
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

REVOKE ALL ON FUNCTION wallet.refuse_removal(), wallet.prune_partner_calls(integer, integer, integer) FROM PUBLIC;

CREATE FUNCTION wallet.grant_pruning(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION wallet.prune_partner_calls(integer, integer, integer) TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION wallet.grant_pruning(name) FROM PUBLIC;
