-- What instances of one service agree on (leases, epoch), and what is remembered beside the log (answers to calls,
-- snapshots of streams).

-- Who may do what only one may do. A row stays when its lease is over, so that `token` grows for ever.
CREATE TABLE eventstore.leases (
    token bigint NOT NULL,
    acquired_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    claim uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    CONSTRAINT leases_pkey PRIMARY KEY (name),
    CONSTRAINT leases_token_positive CHECK (token > 0),
    CONSTRAINT leases_name_size CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT leases_holder_size CHECK (char_length(holder) BETWEEN 1 AND 200)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN eventstore.leases.token IS
    'Fencing: grows each time the lease changes hands. What a holder writes is compared with it.';
COMMENT ON COLUMN eventstore.leases.claim IS
    'One try to hold it: the same claim again finds itself, after an answer that was lost.';

-- One row for each history that this log has had: the last one is current. A restore from backup begins a new one.
CREATE TABLE eventstore.epochs (
    began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    epoch integer NOT NULL,
    reason text NOT NULL,
    began_by text NOT NULL DEFAULT session_user,
    positions bigint[] NOT NULL,
    hashes bytea[] NOT NULL,
    CONSTRAINT epochs_pkey PRIMARY KEY (epoch),
    CONSTRAINT epochs_epoch_positive CHECK (epoch > 0),
    CONSTRAINT epochs_reason_size CHECK (char_length(reason) BETWEEN 1 AND 1000),
    CONSTRAINT epochs_all_shards CHECK (cardinality(positions) = 64 AND cardinality(hashes) = 64)
);

COMMENT ON COLUMN eventstore.epochs.positions IS 'The heads of the 64 shards when it began, in their order.';
COMMENT ON COLUMN eventstore.epochs.hashes IS
    'The hash of each shard''s last event then; null where there was none, or its month has been detached.';

INSERT INTO eventstore.epochs (epoch, reason, positions, hashes)
VALUES (1, 'the first', array_fill(0::bigint, ARRAY[64]), array_fill(NULL::bytea, ARRAY[64]));

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON eventstore.epochs
    FOR EACH ROW EXECUTE FUNCTION eventstore.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON eventstore.epochs
    FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change();
ALTER TABLE eventstore.epochs ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE eventstore.epochs ENABLE ALWAYS TRIGGER no_truncate;

-- Answers to mutating calls. A row without an answer is a call that runs: it is never committed.
CREATE TABLE eventstore.answers (
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    caller text COLLATE "C" NOT NULL,
    method text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    body_digest bytea NOT NULL,
    answer bytea,
    CONSTRAINT answers_pkey PRIMARY KEY (caller, method, request_id),
    CONSTRAINT answers_key_sizes CHECK (
        char_length(caller) BETWEEN 1 AND 200
        AND char_length(method) BETWEEN 1 AND 200
        AND char_length(request_id) BETWEEN 1 AND 200
    ),
    CONSTRAINT answers_body_digest_size CHECK (octet_length(body_digest) = 32),
    CONSTRAINT answers_answer_size CHECK (octet_length(answer) <= 262144)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);

-- For pruning: the oldest first.
CREATE INDEX answers_created_at_idx ON eventstore.answers (created_at);

CREATE FUNCTION eventstore.refuse_unanswered() RETURNS trigger
LANGUAGE plpgsql SET search_path = eventstore, pg_temp AS $$
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

-- A transaction that begins a call and forgets to finish it cannot commit; whoever stores both at once pays nothing.
CREATE CONSTRAINT TRIGGER answered AFTER INSERT ON eventstore.answers
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.answer IS NULL) EXECUTE FUNCTION eventstore.refuse_unanswered();

-- The state that a stream's events lead to, so that a long one need not be read from its beginning.
CREATE TABLE eventstore.snapshots (
    position bigint NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    state bytea NOT NULL,
    CONSTRAINT snapshots_pkey PRIMARY KEY (stream, kind, version),
    CONSTRAINT snapshots_position_positive CHECK (position > 0),
    CONSTRAINT snapshots_names_size CHECK (
        char_length(stream) BETWEEN 1 AND 200 AND char_length(kind) BETWEEN 1 AND 100
    ),
    CONSTRAINT snapshots_hash_size CHECK (octet_length(hash) = 32),
    CONSTRAINT snapshots_state_size CHECK (octet_length(state) <= 8388608)
) WITH (fillfactor = 80);

-- Rights. None of these tables says anything that the log does not prove: the service may write them. Epochs are begun
-- by whoever restores, as the owner.
CREATE FUNCTION eventstore.grant_coordination(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT ON eventstore.epochs TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON eventstore.leases TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE, UPDATE (answer) ON eventstore.answers TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON eventstore.snapshots TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION eventstore.refuse_unanswered(), eventstore.grant_coordination(name) FROM PUBLIC;
