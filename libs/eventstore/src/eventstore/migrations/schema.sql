-- What the migrations make, in full: for reading, and compared with a migrated database by a test.
-- Made by `python -m tests.eventstore.schema_dump`; the months' partitions are made at run time.


CREATE SCHEMA eventstore;

CREATE FUNCTION eventstore.append(leg_requests integer[], leg_streams text[], leg_expected bigint[], leg_sizes integer[], event_legs integer[], event_ids uuid[], types text[], contents bytea[], content_hashes bytea[], key_ids text[], ciphertexts bytea[], wait_for_shards boolean, look_up_all boolean) RETURNS TABLE(outcome integer, found bigint, first_position bigint, shard smallint, first_shard_position bigint, last_hash bytea, offender uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'eventstore', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
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

CREATE FUNCTION eventstore.create_period(new_period integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'eventstore', 'pg_temp'
    AS $$
DECLARE
    parent text;
    part text;
BEGIN
    -- One maker at a time; the second finds the first one's work.
    PERFORM pg_advisory_xact_lock(hashtextextended('eventstore.create_period', 0));
    IF EXISTS (SELECT FROM periods WHERE period = new_period) THEN
        RETURN false;
    END IF;
    FOREACH parent IN ARRAY ARRAY['events', 'private_parts'] LOOP
        part := format('%s_%s', parent, new_period);
        EXECUTE format('CREATE TABLE eventstore.%I (LIKE eventstore.%I INCLUDING ALL,'
                       ' CONSTRAINT %I CHECK (period >= %s AND period < %s))',
                       part, parent, part || '_period', new_period, new_period + 1);
        EXECUTE format('ALTER TABLE eventstore.%I ATTACH PARTITION eventstore.%I FOR VALUES FROM (%s) TO (%s)',
                       parent, part, new_period, new_period + 1);
        -- It let the attaching trust it; from now on the partition's bounds say the same.
        EXECUTE format('ALTER TABLE eventstore.%I DROP CONSTRAINT %I', part, part || '_period');
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON eventstore.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change()', part);
        EXECUTE format('ALTER TABLE eventstore.%I ENABLE ALWAYS TRIGGER no_truncate', part);
        EXECUTE format('ALTER TABLE eventstore.%I ENABLE ALWAYS TRIGGER append_only', part);
    END LOOP;
    INSERT INTO periods (period) VALUES (new_period);
    RETURN true;
END
$$;

CREATE FUNCTION eventstore.earliest_period(event_ids uuid[]) RETURNS integer
    LANGUAGE sql STABLE STRICT
    SET search_path TO 'eventstore', 'pg_temp'
    AS $$
    SELECT coalesce(max(p.period), 0)
      FROM eventstore.periods AS p,
           (SELECT CASE WHEN bool_and(uuid_extract_version(u.id) = 7)
                        THEN to_char(least(min(uuid_extract_timestamp(u.id)), clock_timestamp()) AT TIME ZONE 'UTC'
                                     - interval '1 month', 'YYYYMM')::integer
                   END AS month
              FROM unnest(event_ids) AS u (id)) AS made
     WHERE p.period <= made.month
$$;

CREATE FUNCTION eventstore.ensure_periods(months_ahead integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'eventstore', 'pg_temp'
    AS $$
DECLARE
    made integer := 0;
    month timestamp;
BEGIN
    IF months_ahead NOT BETWEEN 0 AND 120 THEN
        RAISE EXCEPTION 'months_ahead is %, not 0 to 120', months_ahead USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOR offset_months IN 0 .. months_ahead LOOP
        month := date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + make_interval(months => offset_months);
        IF create_period(to_char(month, 'YYYYMM')::integer) THEN
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;

CREATE FUNCTION eventstore.grant_coordination(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT ON eventstore.epochs TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON eventstore.leases TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE, UPDATE (answer) ON eventstore.answers TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON eventstore.snapshots TO %I', service);
END
$$;

CREATE FUNCTION eventstore.grant_following(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON eventstore.positions, eventstore.parked_streams,'
                   ' eventstore.parked_events, eventstore.stopped_followers, eventstore.projections TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT ON eventstore.skipped_events TO %I', service);
END
$$;

CREATE FUNCTION eventstore.grant_private(reader name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA eventstore TO %I', reader);
    EXECUTE format('GRANT SELECT ON eventstore.private_parts, eventstore.stream_heads TO %I', reader);
END
$$;

CREATE FUNCTION eventstore.grant_service(service name) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA eventstore TO %I', service);
    EXECUTE format('GRANT SELECT ON eventstore.events, eventstore.stream_heads, eventstore.shard_heads,'
                   ' eventstore.shard_periods, eventstore.periods TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION eventstore.append(integer[], text[], bigint[], integer[], integer[],'
                   ' uuid[], text[], bytea[], bytea[], text[], bytea[], boolean, boolean),'
                   ' eventstore.earliest_period(uuid[]), eventstore.ensure_periods(integer) TO %I', service);
END
$$;

CREATE FUNCTION eventstore.look_up_legs(doubtful integer[], leg_streams text[], event_legs integer[], event_ids uuid[], content_hashes bytea[], INOUT outcomes integer[], INOUT firsts bigint[], INOUT shard_firsts bigint[], INOUT hashes bytea[], INOUT offenders uuid[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'eventstore', 'pg_temp'
    AS $$
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

CREATE FUNCTION eventstore.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE FUNCTION eventstore.refuse_unanswered() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'eventstore', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM answers AS a
                WHERE a.caller = NEW.caller AND a.method = NEW.method AND a.request_id = NEW.request_id
                  AND a.answer IS NULL) THEN
        RAISE EXCEPTION 'the call % of % by % was not given its answer', NEW.request_id, NEW.method, NEW.caller
            USING ERRCODE = 'not_null_violation', TABLE = 'answers', COLUMN = 'answer', SCHEMA = 'eventstore';
    END IF;
    RETURN NULL;
END
$$;

CREATE TABLE eventstore.answers (
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    caller text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    request_id text NOT NULL COLLATE pg_catalog."C",
    body_digest bytea NOT NULL,
    answer bytea,
    CONSTRAINT answers_answer_size CHECK ((octet_length(answer) <= 262144)),
    CONSTRAINT answers_body_digest_size CHECK ((octet_length(body_digest) = 32)),
    CONSTRAINT answers_key_sizes CHECK ((((char_length(caller) >= 1) AND (char_length(caller) <= 200)) AND ((char_length(method) >= 1) AND (char_length(method) <= 200)) AND ((char_length(request_id) >= 1) AND (char_length(request_id) <= 200))))
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_insert_scale_factor='0.05');

CREATE TABLE eventstore.epochs (
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    epoch integer NOT NULL,
    reason text NOT NULL,
    began_by text DEFAULT SESSION_USER NOT NULL,
    positions bigint[] NOT NULL,
    hashes bytea[] NOT NULL,
    CONSTRAINT epochs_all_shards CHECK (((cardinality(positions) = 64) AND (cardinality(hashes) = 64))),
    CONSTRAINT epochs_epoch_positive CHECK ((epoch > 0)),
    CONSTRAINT epochs_reason_size CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 1000)))
);

COMMENT ON COLUMN eventstore.epochs.positions IS 'The heads of the 64 shards when it began, in their order.';

COMMENT ON COLUMN eventstore.epochs.hashes IS 'The hash of each shard''s last event then; null where there was none, or its month has been detached.';

CREATE TABLE eventstore.events (
    stream_position bigint NOT NULL,
    shard_position bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    event_id uuid NOT NULL,
    period integer NOT NULL,
    shard smallint NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    content bytea NOT NULL,
    prev_hash bytea NOT NULL,
    content_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT events_content_size CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= 1000000)))
)
PARTITION BY RANGE (period);

COMMENT ON COLUMN eventstore.events.recorded_at IS 'This database''s clock when the append held its shards. The content has its own, which is the owner''s.';

CREATE TABLE eventstore.leases (
    token bigint NOT NULL,
    acquired_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    claim uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT leases_holder_size CHECK (((char_length(holder) >= 1) AND (char_length(holder) <= 200))),
    CONSTRAINT leases_name_size CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT leases_token_positive CHECK ((token > 0))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

COMMENT ON COLUMN eventstore.leases.token IS 'Fencing: grows each time the lease changes hands. What a holder writes is compared with it.';

COMMENT ON COLUMN eventstore.leases.claim IS 'One try to hold it: the same claim again finds itself, after an answer that was lost.';

CREATE TABLE eventstore.parked_events (
    stream_position bigint NOT NULL,
    shard_position bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    event_id uuid NOT NULL,
    shard smallint NOT NULL,
    follower text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    content bytea NOT NULL,
    prev_hash bytea NOT NULL,
    content_hash bytea NOT NULL,
    hash bytea NOT NULL
);

CREATE TABLE eventstore.parked_streams (
    failed_position bigint NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    failed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    retry_requested_at timestamp with time zone,
    dead_letter_sent_at timestamp with time zone,
    attempts integer NOT NULL,
    shard smallint NOT NULL,
    follower text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    error text NOT NULL,
    CONSTRAINT parked_streams_attempts_positive CHECK ((attempts > 0)),
    CONSTRAINT parked_streams_error_size CHECK ((char_length(error) <= 2000)),
    CONSTRAINT parked_streams_reason_size CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 100))),
    CONSTRAINT parked_streams_shard_in_range CHECK (((shard >= 0) AND (shard <= 63)))
);

COMMENT ON COLUMN eventstore.parked_streams.failed_position IS 'The stream position of the event that failed.';

CREATE TABLE eventstore.periods (
    period integer NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    detached_at timestamp with time zone,
    CONSTRAINT periods_is_a_month CHECK (((((period / 100) >= 2000) AND ((period / 100) <= 9999)) AND (((period % 100) >= 1) AND ((period % 100) <= 12))))
);

CREATE TABLE eventstore.positions (
    "position" bigint DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    epoch integer,
    parked integer DEFAULT 0 NOT NULL,
    shard smallint NOT NULL,
    follower text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    hash bytea,
    recent bytea DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT positions_hash_size CHECK ((octet_length(hash) = 32)),
    CONSTRAINT positions_names_size CHECK ((((char_length(follower) >= 1) AND (char_length(follower) <= 100)) AND ((char_length(source) >= 1) AND (char_length(source) <= 100)))),
    CONSTRAINT positions_position_not_negative CHECK (("position" >= 0)),
    CONSTRAINT positions_recent_size CHECK (((octet_length(recent) <= 1024) AND ((octet_length(recent) % 8) = 0))),
    CONSTRAINT positions_shard_in_range CHECK (((shard >= 0) AND (shard <= 63)))
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

COMMENT ON COLUMN eventstore.positions.epoch IS 'The source''s epoch in which the position was last checked.';

COMMENT ON COLUMN eventstore.positions.parked IS 'How many streams of the shard are parked.';

COMMENT ON COLUMN eventstore.positions.source IS '`own`: the log of this database; else the name of a service.';

COMMENT ON COLUMN eventstore.positions.hash IS 'Of the event at the position; null where that was not wanted, so not seen.';

COMMENT ON COLUMN eventstore.positions.recent IS 'The first 8 bytes of the hashes of the last events up to the position, at most 128, zeros where one is not known.';

CREATE TABLE eventstore.private_parts (
    stream_position bigint NOT NULL,
    period integer NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    ciphertext bytea NOT NULL,
    CONSTRAINT private_parts_size CHECK (((octet_length(ciphertext) >= 28) AND (octet_length(ciphertext) <= 70000)))
)
PARTITION BY RANGE (period);

CREATE TABLE eventstore.projections (
    built_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT projections_version_positive CHECK ((version > 0))
);

CREATE TABLE eventstore.shard_heads (
    "position" bigint DEFAULT 0 NOT NULL,
    period integer DEFAULT 0 NOT NULL,
    shard smallint NOT NULL,
    CONSTRAINT shard_heads_position_not_negative CHECK (("position" >= 0)),
    CONSTRAINT shard_heads_shard_in_range CHECK (((shard >= 0) AND (shard <= 63)))
)
WITH (fillfactor='10', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

CREATE TABLE eventstore.shard_periods (
    first_position bigint NOT NULL,
    period integer NOT NULL,
    shard smallint NOT NULL
);

CREATE TABLE eventstore.skipped_events (
    id bigint NOT NULL,
    skipped_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    stream_position bigint NOT NULL,
    shard_position bigint NOT NULL,
    event_id uuid NOT NULL,
    shard smallint NOT NULL,
    follower text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    error text NOT NULL,
    skipped_by text NOT NULL,
    why text NOT NULL,
    CONSTRAINT skipped_events_by_size CHECK (((char_length(skipped_by) >= 1) AND (char_length(skipped_by) <= 200))),
    CONSTRAINT skipped_events_why_size CHECK (((char_length(why) >= 1) AND (char_length(why) <= 1000)))
);

ALTER TABLE eventstore.skipped_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME eventstore.skipped_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE eventstore.snapshots (
    "position" bigint NOT NULL,
    saved_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    version integer NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    state bytea NOT NULL,
    CONSTRAINT snapshots_hash_size CHECK ((octet_length(hash) = 32)),
    CONSTRAINT snapshots_names_size CHECK ((((char_length(stream) >= 1) AND (char_length(stream) <= 200)) AND ((char_length(kind) >= 1) AND (char_length(kind) <= 100)))),
    CONSTRAINT snapshots_position_positive CHECK (("position" > 0)),
    CONSTRAINT snapshots_state_size CHECK ((octet_length(state) <= 8388608))
)
WITH (fillfactor='80');

CREATE TABLE eventstore.stopped_followers (
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    shard_position bigint NOT NULL,
    stream_position bigint,
    event_id uuid,
    attempts integer DEFAULT 0 NOT NULL,
    shard smallint NOT NULL,
    follower text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    stream text COLLATE pg_catalog."C",
    type text COLLATE pg_catalog."C",
    hash bytea,
    reason text NOT NULL,
    error text NOT NULL,
    CONSTRAINT stopped_followers_error_size CHECK ((char_length(error) <= 2000)),
    CONSTRAINT stopped_followers_failed_event_named CHECK (((kind <> 'failed'::text) OR ((stream IS NOT NULL) AND (stream_position IS NOT NULL) AND (event_id IS NOT NULL) AND (type IS NOT NULL) AND (hash IS NOT NULL)))),
    CONSTRAINT stopped_followers_kind_known CHECK ((kind = ANY (ARRAY['failed'::text, 'forked'::text]))),
    CONSTRAINT stopped_followers_reason_size CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 100))),
    CONSTRAINT stopped_followers_shard_in_range CHECK (((shard >= 0) AND (shard <= 63)))
);

CREATE TABLE eventstore.stream_heads (
    "position" bigint NOT NULL,
    first_period integer NOT NULL,
    period integer NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    CONSTRAINT stream_heads_position_positive CHECK (("position" > 0))
)
WITH (fillfactor='80');

ALTER TABLE ONLY eventstore.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (caller, method, request_id);

ALTER TABLE ONLY eventstore.epochs
    ADD CONSTRAINT epochs_pkey PRIMARY KEY (epoch);

ALTER TABLE ONLY eventstore.events
    ADD CONSTRAINT events_event_id_key UNIQUE (event_id, period);

ALTER TABLE ONLY eventstore.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (shard, period, shard_position);

ALTER TABLE ONLY eventstore.events
    ADD CONSTRAINT events_stream_key UNIQUE (stream, period, stream_position);

ALTER TABLE ONLY eventstore.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);

ALTER TABLE ONLY eventstore.parked_events
    ADD CONSTRAINT parked_events_pkey PRIMARY KEY (follower, source, stream, stream_position);

ALTER TABLE ONLY eventstore.parked_streams
    ADD CONSTRAINT parked_streams_pkey PRIMARY KEY (follower, source, stream);

ALTER TABLE ONLY eventstore.periods
    ADD CONSTRAINT periods_pkey PRIMARY KEY (period);

ALTER TABLE ONLY eventstore.positions
    ADD CONSTRAINT positions_pkey PRIMARY KEY (follower, source, shard);

ALTER TABLE ONLY eventstore.private_parts
    ADD CONSTRAINT private_parts_pkey PRIMARY KEY (stream, period, stream_position);

ALTER TABLE ONLY eventstore.projections
    ADD CONSTRAINT projections_pkey PRIMARY KEY (name);

ALTER TABLE ONLY eventstore.shard_heads
    ADD CONSTRAINT shard_heads_pkey PRIMARY KEY (shard);

ALTER TABLE ONLY eventstore.shard_periods
    ADD CONSTRAINT shard_periods_pkey PRIMARY KEY (shard, period);

ALTER TABLE ONLY eventstore.skipped_events
    ADD CONSTRAINT skipped_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY eventstore.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (stream, kind, version);

ALTER TABLE ONLY eventstore.stopped_followers
    ADD CONSTRAINT stopped_followers_pkey PRIMARY KEY (follower, source, shard);

ALTER TABLE ONLY eventstore.stream_heads
    ADD CONSTRAINT stream_heads_pkey PRIMARY KEY (stream);

CREATE INDEX answers_created_at_idx ON eventstore.answers USING btree (created_at);

CREATE INDEX parked_streams_dead_letter_idx ON eventstore.parked_streams USING btree (follower, source, failed_at) WHERE (dead_letter_sent_at IS NULL);

CREATE INDEX parked_streams_retry_idx ON eventstore.parked_streams USING btree (follower, source, retry_requested_at) WHERE (retry_requested_at IS NOT NULL);

CREATE CONSTRAINT TRIGGER answered AFTER INSERT ON eventstore.answers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.answer IS NULL)) EXECUTE FUNCTION eventstore.refuse_unanswered();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON eventstore.epochs FOR EACH ROW EXECUTE FUNCTION eventstore.refuse_change();

ALTER TABLE eventstore.epochs ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON eventstore.events FOR EACH ROW EXECUTE FUNCTION eventstore.refuse_change();

ALTER TABLE eventstore.events ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON eventstore.private_parts FOR EACH ROW EXECUTE FUNCTION eventstore.refuse_change();

ALTER TABLE eventstore.private_parts ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON eventstore.epochs FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change();

ALTER TABLE eventstore.epochs ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON eventstore.events FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change();

ALTER TABLE eventstore.events ENABLE ALWAYS TRIGGER no_truncate;

CREATE TRIGGER no_truncate BEFORE TRUNCATE ON eventstore.private_parts FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change();

ALTER TABLE eventstore.private_parts ENABLE ALWAYS TRIGGER no_truncate;

ALTER TABLE ONLY eventstore.parked_events
    ADD CONSTRAINT parked_events_stream_is_parked FOREIGN KEY (follower, source, stream) REFERENCES eventstore.parked_streams(follower, source, stream) ON UPDATE CASCADE;

REVOKE ALL ON FUNCTION eventstore.append(leg_requests integer[], leg_streams text[], leg_expected bigint[], leg_sizes integer[], event_legs integer[], event_ids uuid[], types text[], contents bytea[], content_hashes bytea[], key_ids text[], ciphertexts bytea[], wait_for_shards boolean, look_up_all boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.create_period(new_period integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.earliest_period(event_ids uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.ensure_periods(months_ahead integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.grant_coordination(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.grant_following(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.grant_private(reader name) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.grant_service(service name) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.look_up_legs(doubtful integer[], leg_streams text[], event_legs integer[], event_ids uuid[], content_hashes bytea[], INOUT outcomes integer[], INOUT firsts bigint[], INOUT shard_firsts bigint[], INOUT hashes bytea[], INOUT offenders uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.refuse_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION eventstore.refuse_unanswered() FROM PUBLIC;
