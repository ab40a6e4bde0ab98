-- Append: one call, one round trip, any number of requests. A request is one or more *legs*, each the next events of
-- one stream; it is stored whole or not at all, and never hinders the other requests of the call.
--
--   leg_requests     number of the request that each leg belongs to, ascending
--   leg_streams      each at most once in a request
--   leg_expected     n >= 0: exactly n events so far (0: none); -1: at least one; -2: any number
--   leg_sizes        how many events each leg has
--   event_legs       number (1..) of the leg that each event belongs to, ascending; null when there is one leg
--   content_hashes   SHA-256 of each content: from the caller, the whole call is a fifth cheaper. A wrong one deceives
--                    nobody: whoever checks a chain hashes the contents. Null: made here
--   key_ids, ciphertexts   null when no event has a private part, else one entry an event, null where it has none
--   wait_for_shards  false: requests whose shard is being appended to are left out, and answered `busy`
--   look_up_all      true: look for every event id first, whatever the leg expects
--
-- One row a leg, in their order:
--   outcome   1 stored, 2 found stored already (same ids, same contents), 3 conflict, 4 an id is used for something
--             else, 5 busy, 0 nothing wrong with this leg, but with another of its request
--   found     the stream's position that was met (conflict), else null
--   first_position, first_shard_position, last_hash: where it is stored now (1, 2)
--
-- Why it is safe: whoever appends holds the head row of each shard up to the commit, so positions and hashes are read
-- and made by one transaction at a time, and appear in their order. Locks are taken in ascending order: no deadlock.
-- It runs as its owner: the service's role can append in no other way.
CREATE FUNCTION eventstore.append(
    leg_requests integer[], leg_streams text[], leg_expected bigint[], leg_sizes integer[],
    event_legs integer[], event_ids uuid[], types text[], contents bytea[], content_hashes bytea[],
    key_ids text[], ciphertexts bytea[],
    wait_for_shards boolean, look_up_all boolean
) RETURNS TABLE (
    outcome integer, found bigint, first_position bigint, shard smallint, first_shard_position bigint, last_hash bytea,
    offender uuid
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = eventstore, pg_temp
-- The plans are made once a session, perhaps while the tables are still small: they must stay good when they are large.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    legs CONSTANT integer := cardinality(leg_streams);
    events CONSTANT integer := cardinality(event_ids);
    at CONSTANT timestamptz := clock_timestamp();
    -- shards, at index shard + 1
    shard_next bigint[] := array_fill(NULL::bigint, ARRAY[64]);
    shard_period integer[] := array_fill(NULL::integer, ARRAY[64]);
    -- legs; `slot` is the first leg of the same stream, where the stream's state is kept
    leg_shards smallint[];
    leg_slots integer[];
    leg_outcomes integer[] := array_fill(1, ARRAY[legs]);
    leg_found bigint[] := array_fill(NULL::bigint, ARRAY[legs]);
    leg_first bigint[] := array_fill(NULL::bigint, ARRAY[legs]);
    leg_shard_first bigint[] := array_fill(NULL::bigint, ARRAY[legs]);
    leg_hashes bytea[] := array_fill(NULL::bytea, ARRAY[legs]);
    leg_offenders uuid[] := array_fill(NULL::uuid, ARRAY[legs]);
    slot_position bigint[];
    slot_hash bytea[];
    slot_new integer[] := '{}';
    slot_changed integer[] := '{}';
    slot_seen boolean[] := array_fill(false, ARRAY[legs]);
    -- Copies: a variable's elements are found at once, an argument's by counting from the first.
    streams text[] := leg_streams;
    digests bytea[] := content_hashes;
    -- events
    hashes bytea[];
    leg_starts integer[] := array_fill(0, ARRAY[legs]);
    leg_prev_hashes bytea[] := array_fill(NULL::bytea, ARRAY[legs]);
    start integer;
    doubtful integer[] := '{}';
    month CONSTANT integer := to_char(at AT TIME ZONE 'UTC', 'YYYYMM')::integer;
    current_period integer;
    head record;
    first_leg integer;
    last_leg integer;
    worst integer;
    stored integer := 0;
    slot integer;
    sh integer;
    position_before bigint;
    h bytea;
    p bigint;
    only_position bigint;
    only_shard_position bigint;
    only_period integer;
    only_shard smallint;
    only_stream text;
BEGIN
    IF event_legs IS NULL THEN
        event_legs := array_fill(1, ARRAY[events]);
    END IF;
    IF digests IS NULL THEN
        SELECT array_agg(sha256(u.content) ORDER BY u.i) INTO digests
          FROM unnest(contents) WITH ORDINALITY AS u (content, i);
    END IF;
    SELECT array_agg((get_byte(s.digest, 7) & 63)::smallint ORDER BY s.leg), array_agg(s.slot ORDER BY s.leg)
      INTO leg_shards, leg_slots
      FROM (SELECT u.leg, sha256(convert_to(u.stream, 'UTF8')) AS digest,
                   min(u.leg) OVER (PARTITION BY u.stream)::integer AS slot
              FROM unnest(leg_streams) WITH ORDINALITY AS u (stream, leg)) AS s;

    -- 1. The shards.
    IF wait_for_shards THEN
        FOR head IN SELECT h.shard, h.position, h.period FROM shard_heads AS h
                     WHERE h.shard = ANY (leg_shards) ORDER BY h.shard FOR NO KEY UPDATE LOOP
            shard_next[head.shard + 1] := head.position;
            shard_period[head.shard + 1] := head.period;
        END LOOP;
    ELSE
        FOR head IN SELECT h.shard, h.position, h.period FROM shard_heads AS h
                     WHERE h.shard = ANY (leg_shards) ORDER BY h.shard FOR NO KEY UPDATE SKIP LOCKED LOOP
            shard_next[head.shard + 1] := head.position;
            shard_period[head.shard + 1] := head.period;
        END LOOP;
    END IF;

    -- The newest period there is, up to this month: a month whose partition is missing stops nobody.
    SELECT p.period INTO current_period FROM periods AS p
     WHERE p.period <= month AND p.detached_at IS NULL ORDER BY p.period DESC LIMIT 1;
    IF current_period IS NULL THEN
        RAISE EXCEPTION 'no partition for % or before', month USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;

    -- 2. The streams. A new statement, hence a new snapshot: it sees what the last holder of the lock has committed.
    SELECT array_agg(coalesce(h.position, 0) ORDER BY u.leg),
           array_agg(coalesce(h.hash, sha256(convert_to(u.stream, 'UTF8'))) ORDER BY u.leg)
      INTO slot_position, slot_hash
      FROM unnest(leg_streams) WITH ORDINALITY AS u (stream, leg)
      LEFT JOIN stream_heads AS h ON h.stream = u.stream;

    -- 3. Which ids are there already? Asked where the expected position cannot answer it, under the lock.
    FOR i IN 1 .. legs LOOP
        IF (look_up_all OR leg_expected[i] < 0) AND shard_next[leg_shards[i] + 1] IS NOT NULL THEN
            doubtful := doubtful || i;
        END IF;
    END LOOP;
    IF cardinality(doubtful) > 0 THEN
        SELECT l.outcomes, l.firsts, l.shard_firsts, l.hashes, l.offenders
          INTO leg_outcomes, leg_first, leg_shard_first, leg_hashes, leg_offenders
          FROM look_up_legs(doubtful, leg_streams, event_legs, event_ids, digests,
                            leg_outcomes, leg_first, leg_shard_first, leg_hashes, leg_offenders) AS l;
    END IF;

    -- 4. Decide, request after request: later ones see what earlier ones of this call will have stored.
    doubtful := '{}';
    first_leg := 1;
    WHILE first_leg <= legs LOOP
        last_leg := first_leg;
        WHILE last_leg < legs AND leg_requests[last_leg + 1] = leg_requests[first_leg] LOOP
            last_leg := last_leg + 1;
        END LOOP;
        worst := 1;
        FOR i IN first_leg .. last_leg LOOP
            IF shard_next[leg_shards[i] + 1] IS NULL THEN
                leg_outcomes[i] := 5;
            ELSIF leg_outcomes[i] = 1 THEN
                position_before := slot_position[leg_slots[i]];
                IF NOT (leg_expected[i] = position_before OR leg_expected[i] = -2
                        OR (leg_expected[i] = -1 AND position_before > 0)) THEN
                    leg_outcomes[i] := 3;
                    leg_found[i] := position_before;
                END IF;
            END IF;
            worst := greatest(worst, leg_outcomes[i]);
        END LOOP;
        FOR i IN first_leg .. last_leg LOOP
            IF worst = 1 THEN
                slot := leg_slots[i];
                sh := leg_shards[i] + 1;
                leg_first[i] := slot_position[slot] + 1;
                leg_shard_first[i] := shard_next[sh] + 1;
                shard_next[sh] := shard_next[sh] + leg_sizes[i];
                IF NOT slot_seen[slot] THEN
                    slot_seen[slot] := true;
                    IF slot_position[slot] = 0 THEN
                        slot_new := slot_new || slot;
                    ELSE
                        slot_changed := slot_changed || slot;
                    END IF;
                END IF;
                slot_position[slot] := slot_position[slot] + leg_sizes[i];
                stored := stored + 1;
            ELSIF leg_outcomes[i] = 1 THEN
                leg_outcomes[i] := 0;
            END IF;
            -- What conflicts may be a second try of what has been stored: its ids tell.
            IF worst = 3 AND NOT look_up_all THEN
                doubtful := doubtful || i;
            END IF;
        END LOOP;
        first_leg := last_leg + 1;
    END LOOP;
    IF cardinality(doubtful) > 0 THEN
        SELECT l.outcomes, l.firsts, l.shard_firsts, l.hashes, l.offenders
          INTO leg_outcomes, leg_first, leg_shard_first, leg_hashes, leg_offenders
          FROM look_up_legs(doubtful, leg_streams, event_legs, event_ids, digests,
                            leg_outcomes, leg_first, leg_shard_first, leg_hashes, leg_offenders) AS l;
    END IF;

    -- 5. Number, chain and insert.
    IF stored > 0 THEN
        hashes := array_fill(NULL::bytea, ARRAY[events]);
        start := 1;
        FOR leg IN 1 .. legs LOOP
            leg_starts[leg] := start;
            IF leg_outcomes[leg] = 1 THEN
                slot := leg_slots[leg];
                h := slot_hash[slot];
                leg_prev_hashes[leg] := h;
                p := leg_first[leg];
                FOR i IN start .. start + leg_sizes[leg] - 1 LOOP
                    h := sha256(h || int8send(p) || digests[i]);
                    hashes[i] := h;
                    p := p + 1;
                END LOOP;
                slot_hash[slot] := h;
                leg_hashes[leg] := h;
            END IF;
            start := start + leg_sizes[leg];
        END LOOP;

        -- A shard's period never goes back, whatever the clock does.
        UPDATE shard_heads AS s
           SET position = shard_next[s.shard + 1], period = greatest(s.period, current_period)
         WHERE s.shard = ANY (leg_shards) AND s.position <> shard_next[s.shard + 1];
        FOR i IN 1 .. 64 LOOP
            IF shard_period[i] < current_period THEN
                INSERT INTO shard_periods (shard, period, first_position)
                SELECT i - 1, current_period, min(u.first) FROM unnest(leg_shards, leg_shard_first, leg_outcomes)
                       AS u (shard, first, outcome) WHERE u.shard = i - 1 AND u.outcome = 1
                HAVING min(u.first) IS NOT NULL;
                shard_period[i] := current_period;
            END IF;
        END LOOP;

        -- Which heads are new is known, and nobody else can make or move one: cheaper than ON CONFLICT.
        IF cardinality(slot_changed) > 0 THEN
            UPDATE stream_heads AS s
               SET position = slot_position[c.slot], hash = slot_hash[c.slot],
                   period = shard_period[leg_shards[c.slot] + 1]
              FROM unnest(slot_changed) AS c (slot)
             WHERE s.stream = streams[c.slot];
        END IF;
        IF cardinality(slot_new) > 0 THEN
            INSERT INTO stream_heads (stream, position, hash, first_period, period)
            SELECT streams[c.slot], slot_position[c.slot], slot_hash[c.slot],
                   shard_period[leg_shards[c.slot] + 1], shard_period[leg_shards[c.slot] + 1]
              FROM unnest(slot_new) AS c (slot);
        END IF;

        -- `unnest` stands among what is selected, all in step: in FROM it would first write everything aside.
        IF legs = 1 THEN
            -- A large append to one stream: what is the same for all its events is not looked up for each of them.
            only_position := leg_first[1] - 1;
            only_shard_position := leg_shard_first[1] - 1;
            only_period := shard_period[leg_shards[1] + 1];
            only_shard := leg_shards[1];
            only_stream := streams[1];
            INSERT INTO events (stream_position, shard_position, recorded_at, event_id, period, shard, stream, type,
                                content, prev_hash, content_hash, hash)
            SELECT generate_series(only_position + 1, only_position + events),
                   generate_series(only_shard_position + 1, only_shard_position + events),
                   at, unnest(event_ids), only_period, only_shard, only_stream, unnest(types), unnest(contents),
                   unnest(leg_prev_hashes || hashes[1 : events - 1]), unnest(digests), unnest(hashes);
        ELSE
            INSERT INTO events (stream_position, shard_position, recorded_at, event_id, period, shard, stream, type,
                                content, prev_hash, content_hash, hash)
            SELECT leg_first[u.leg] + u.i - leg_starts[u.leg], leg_shard_first[u.leg] + u.i - leg_starts[u.leg], at,
                   u.event_id, shard_period[leg_shards[u.leg] + 1], leg_shards[u.leg], streams[u.leg], u.type, u.content,
                   CASE WHEN u.i = leg_starts[u.leg] THEN leg_prev_hashes[u.leg] ELSE hashes[u.i - 1] END,
                   u.content_hash, u.hash
              FROM (SELECT unnest(event_legs) AS leg, unnest(event_ids) AS event_id, unnest(types) AS type,
                           unnest(contents) AS content, unnest(digests) AS content_hash, unnest(hashes) AS hash,
                           generate_series(1, events) AS i) AS u
             WHERE u.hash IS NOT NULL;
        END IF;

        IF ciphertexts IS NOT NULL THEN
            INSERT INTO private_parts (stream_position, period, stream, key_id, ciphertext)
            SELECT leg_first[u.leg] + u.i - leg_starts[u.leg], shard_period[leg_shards[u.leg] + 1], streams[u.leg],
                   u.key_id, u.ciphertext
              FROM unnest(event_legs, hashes, key_ids, ciphertexts)
                   WITH ORDINALITY AS u (leg, hash, key_id, ciphertext, i)
             WHERE u.hash IS NOT NULL AND u.ciphertext IS NOT NULL;
        END IF;
    END IF;

    RETURN QUERY
    SELECT u.outcome, u.found, u.first, u.shard, u.shard_first, u.hash, u.offender
      FROM unnest(leg_outcomes, leg_found, leg_first, leg_shards, leg_shard_first, leg_hashes, leg_offenders)
           WITH ORDINALITY AS u (outcome, found, first, shard, shard_first, hash, offender, leg)
     ORDER BY u.leg;
END
$$;
