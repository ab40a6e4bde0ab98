-- The join of look_up_legs let the planner read a whole month for each call when the plan was made while that month
-- was empty: an append of 1,000 events with `any` then took seconds, until the next ANALYZE. LATERAL with OFFSET 0
-- leaves it one way: a look into the index of ids for each id.

-- What `append` knows about the legs `doubtful`, set right where their events are stored already: outcome 2 when all
-- are, one after the other, in this stream and with these contents; 4 when it is anything else; unchanged when none is.
CREATE OR REPLACE FUNCTION eventstore.look_up_legs(
    doubtful integer[], leg_streams text[], event_legs integer[], event_ids uuid[], content_hashes bytea[],
    INOUT outcomes integer[], INOUT firsts bigint[], INOUT shard_firsts bigint[], INOUT hashes bytea[],
    INOUT offenders uuid[]
)
LANGUAGE plpgsql VOLATILE SET search_path = eventstore, pg_temp AS $$
#variable_conflict use_column
DECLARE
    earliest integer;
    latest integer;
    met record;
BEGIN
    -- Months that are only prepared hold nothing.
    SELECT max(h.period) INTO latest FROM shard_heads AS h;
    SELECT earliest_period(array_agg(u.id)) INTO earliest
      FROM unnest(event_legs, event_ids) AS u (leg, id) WHERE u.leg = ANY (doubtful);
    FOR met IN
        SELECT u.leg,
               count(*) = count(e.event_id) AS all_stored,
               bool_and(e.stream = leg_streams[u.leg] AND e.content_hash = u.content_hash) AS all_same,
               max(e.stream_position - u.i) = min(e.stream_position - u.i)
                   AND max(e.shard_position - u.i) = min(e.shard_position - u.i) AS in_order,
               min(e.stream_position) AS first,
               min(e.shard_position) AS shard_first,
               (array_agg(e.hash ORDER BY u.i DESC))[1] AS last_hash,
               (array_agg(u.id ORDER BY u.i) FILTER (WHERE e.event_id IS NOT NULL))[1] AS offender
          FROM unnest(event_legs, event_ids, content_hashes) WITH ORDINALITY AS u (leg, id, content_hash, i)
          LEFT JOIN LATERAL (
                SELECT e.event_id, e.stream, e.content_hash, e.stream_position, e.shard_position, e.hash
                  FROM events AS e
                 WHERE e.event_id = u.id AND e.period >= earliest AND e.period <= latest
                OFFSET 0
               ) AS e ON true
         WHERE u.leg = ANY (doubtful)
         GROUP BY u.leg
        HAVING count(e.event_id) > 0
    LOOP
        IF met.all_stored AND met.all_same AND met.in_order THEN
            outcomes[met.leg] := 2;
            firsts[met.leg] := met.first;
            shard_firsts[met.leg] := met.shard_first;
            hashes[met.leg] := met.last_hash;
        ELSE
            outcomes[met.leg] := 4;
            offenders[met.leg] := met.offender;
        END IF;
    END LOOP;
END
$$;
