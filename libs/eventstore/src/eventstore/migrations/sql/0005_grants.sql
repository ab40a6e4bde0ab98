-- Rights. Roles belong to the server and are made by whoever runs it; these functions give a role what it needs, and are
-- called again after each migration, as the owner.

-- By default a new function may be called by anyone.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA eventstore FROM PUBLIC;

-- The service reads, and appends through the function. It may write no table: not even a stolen password of it can
-- change an event or forge a link of the chain.
CREATE FUNCTION eventstore.grant_service(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA eventstore TO %I', service);
    EXECUTE format('GRANT SELECT ON eventstore.events, eventstore.stream_heads, eventstore.shard_heads,'
                   ' eventstore.shard_periods, eventstore.periods TO %I', service);
    EXECUTE format('GRANT EXECUTE ON FUNCTION eventstore.append(integer[], text[], bigint[], integer[], integer[],'
                   ' uuid[], text[], bytea[], bytea[], text[], bytea[], boolean, boolean),'
                   ' eventstore.earliest_period(uuid[]), eventstore.ensure_periods(integer) TO %I', service);
END
$$;

-- Private parts are for a role of their own.
CREATE FUNCTION eventstore.grant_private(reader name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA eventstore TO %I', reader);
    EXECUTE format('GRANT SELECT ON eventstore.private_parts, eventstore.stream_heads TO %I', reader);
END
$$;

REVOKE ALL ON FUNCTION eventstore.grant_service(name), eventstore.grant_private(name) FROM PUBLIC;
