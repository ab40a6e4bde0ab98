-- Signed calls that came already, by the digest of what was signed, for as long as their timestamp would be good: all
-- instances share them. What is older is deleted.

CREATE TABLE gateway.signed_calls (
    good_until timestamptz NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT signed_calls_pkey PRIMARY KEY (digest),
    CONSTRAINT signed_calls_digest_size CHECK (octet_length(digest) = 32)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

CREATE INDEX signed_calls_good_until_idx ON gateway.signed_calls (good_until);

CREATE FUNCTION gateway.grant_signed_calls(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON gateway.signed_calls TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_signed_calls(name) FROM PUBLIC;
