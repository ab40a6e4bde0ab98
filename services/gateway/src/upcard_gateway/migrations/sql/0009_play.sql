-- Which connection a player has: the newest one, at whichever instance. Others of the same player end when they see that.
-- A row of a connection whose gateway died stays until the player comes again, or their session has ended.
CREATE TABLE gateway.play_connections (
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    player text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    connection text COLLATE "C" NOT NULL,
    instance text COLLATE "C" NOT NULL,
    CONSTRAINT play_connections_pkey PRIMARY KEY (player),
    CONSTRAINT play_connections_session_form CHECK (session ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT play_connections_connection_form CHECK (connection ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT play_connections_instance_size CHECK (char_length(instance) <= 200)
) WITH (fillfactor = 80);

CREATE FUNCTION gateway.grant_play(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.play_connections TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_play(name) FROM PUBLIC;
