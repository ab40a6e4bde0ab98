-- Operators as they are now, which is what their streams `partner-<operator>` add up to: written in the transaction of
-- their events. Their keys, and the secrets of those for HMAC, encrypted under a key that this database does not have.

CREATE SCHEMA gateway;

CREATE TABLE gateway.operators (
    version bigint NOT NULL,
    registered_at timestamptz NOT NULL,
    operator text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    wallet text COLLATE "C" NOT NULL,
    terms jsonb NOT NULL,
    CONSTRAINT operators_pkey PRIMARY KEY (operator),
    CONSTRAINT operators_operator_size CHECK (char_length(operator) BETWEEN 1 AND 64),
    CONSTRAINT operators_environment_known CHECK (environment IN ('sandbox', 'live')),
    CONSTRAINT operators_wallet_known CHECK (wallet IN ('transfer', 'seamless')),
    CONSTRAINT operators_version_positive CHECK (version > 0)
);

COMMENT ON COLUMN gateway.operators.version IS 'Events 1 up to this one of the operator''s stream are in the row.';

CREATE TABLE gateway.operator_keys (
    added_at timestamptz NOT NULL,
    revoked_at timestamptz,
    key_id text COLLATE "C" NOT NULL,
    operator text COLLATE "C" NOT NULL,
    algorithm text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    public_key text COLLATE "C",
    CONSTRAINT operator_keys_pkey PRIMARY KEY (key_id),
    CONSTRAINT operator_keys_operator_exists FOREIGN KEY (operator) REFERENCES gateway.operators (operator),
    CONSTRAINT operator_keys_key_id_size CHECK (char_length(key_id) BETWEEN 1 AND 64),
    CONSTRAINT operator_keys_algorithm_known CHECK (algorithm IN ('hmac-sha256', 'rsa-sha256')),
    CONSTRAINT operator_keys_public_if_rsa CHECK ((public_key IS NOT NULL) = (algorithm = 'rsa-sha256'))
);

CREATE INDEX operator_keys_operator_idx ON gateway.operator_keys (operator);

-- A revoked key's secret is deleted: nothing signs with it any more.
CREATE TABLE gateway.operator_secrets (
    key_id text COLLATE "C" NOT NULL,
    encrypted_with text COLLATE "C" NOT NULL,
    ciphertext bytea NOT NULL,
    CONSTRAINT operator_secrets_pkey PRIMARY KEY (key_id),
    CONSTRAINT operator_secrets_key_exists FOREIGN KEY (key_id) REFERENCES gateway.operator_keys (key_id),
    CONSTRAINT operator_secrets_ciphertext_size CHECK (octet_length(ciphertext) BETWEEN 29 AND 1024)
);

CREATE FUNCTION gateway.grant_operators(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA gateway TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON gateway.operators TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON gateway.operator_keys TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON gateway.operator_secrets TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_operators(name) FROM PUBLIC;
