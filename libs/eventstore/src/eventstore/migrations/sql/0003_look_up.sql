-- Finding events by their ids. No index over all partitions can be unique in the id, so a search that had to open
-- every month would grow dearer for ever. An event id is a UUIDv7: it tells when it was made, and an event is appended
-- soon after. The search begins with the period before that (a clock may be off by up to a month); an id of another
-- version tells nothing, and is looked for everywhere.

CREATE FUNCTION eventstore.earliest_period(event_ids uuid[]) RETURNS integer
LANGUAGE sql STABLE STRICT SET search_path = eventstore, pg_temp AS $$
    SELECT coalesce(max(p.period), 0)
      FROM eventstore.periods AS p,
           (SELECT CASE WHEN bool_and(uuid_extract_version(u.id) = 7)
                        THEN to_char(least(min(uuid_extract_timestamp(u.id)), clock_timestamp()) AT TIME ZONE 'UTC'
                                     - interval '1 month', 'YYYYMM')::integer
                   END AS month
              FROM unnest(event_ids) AS u (id)) AS made
     WHERE p.period <= made.month
$$;

-- What `append` knows about the legs `doubtful`, set right where their events are stored already: outcome 2 when all
-- are, one after the other, in this stream and with these contents; 4 when it is anything else; unchanged when none is.
CREATE FUNCTION eventstore.look_up_legs(
    doubtful integer[], leg_streams text[], event_legs integer[], event_ids uuid[], content_hashes bytea[],
    INOUT outcomes integer[], INOUT firsts bigint[], INOUT shard_firsts bigint[], INOUT hashes bytea[],
    INOUT offenders uuid[]
)
LANGUAGE plpgsql VOLATILE SET search_path = eventstore, pg_temp AS $$
#variable_conflict use_column
DECLARE
    earliest integer;
    met record;
BEGIN
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
          LEFT JOIN events AS e ON e.event_id = u.id AND e.period >= earliest
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
