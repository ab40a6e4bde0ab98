-- Nobody changes or removes what was recorded, the tables' owner and superusers included: a trigger says no.
-- (Old months leave by detaching their partition, which keeps them whole.)

CREATE FUNCTION eventstore.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%.% is append-only: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

-- Row triggers of a partitioned table are cloned into each partition; those for TRUNCATE are not (see below).
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON eventstore.events
    FOR EACH ROW EXECUTE FUNCTION eventstore.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON eventstore.events
    FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON eventstore.private_parts
    FOR EACH ROW EXECUTE FUNCTION eventstore.refuse_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON eventstore.private_parts
    FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change();
-- ALWAYS: session_replication_role does not switch them off.
ALTER TABLE eventstore.events ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE eventstore.events ENABLE ALWAYS TRIGGER no_truncate;
ALTER TABLE eventstore.private_parts ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE eventstore.private_parts ENABLE ALWAYS TRIGGER no_truncate;

-- Makes the partitions of one month. The tables are made apart and then attached: CREATE ... PARTITION OF would
-- lock the parent against readers and writers, ATTACH does not.
CREATE FUNCTION eventstore.create_period(new_period integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = eventstore, pg_temp AS $$
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

-- This month and the next ones. Called at a service's start and once a day; returns how many were missing.
CREATE FUNCTION eventstore.ensure_periods(months_ahead integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = eventstore, pg_temp AS $$
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
