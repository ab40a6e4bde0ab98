-- Members of staff as they are now, which is what their streams `staff-<staff>` add up to. `gateway.staff_people` is the
-- one place with names; its rows can be erased, and everything else has the opaque id alone.

CREATE TABLE gateway.staff (
    added_at timestamptz NOT NULL,
    enrolled_at timestamptz,
    disabled_at timestamptz,
    resets bigint NOT NULL DEFAULT 0,
    staff text COLLATE "C" NOT NULL,
    roles text [] COLLATE "C" NOT NULL,
    CONSTRAINT staff_pkey PRIMARY KEY (staff),
    CONSTRAINT staff_staff_form CHECK (staff ~ '^[A-Za-z0-9_-]{1,64}$'),
    CONSTRAINT staff_roles_known CHECK (
        cardinality(roles) > 0
        AND roles <@ ARRAY['dealer', 'shift_manager', 'operations', 'support', 'auditor', 'admin']
    )
);

COMMENT ON COLUMN gateway.staff.enrolled_at IS 'When password and second factor were chosen; null: not since the last reset.';
COMMENT ON COLUMN gateway.staff.resets IS 'One-time passwords that were made before the latest one.';

CREATE TABLE gateway.staff_people (
    staff text COLLATE "C" NOT NULL,
    sign_in_name text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    CONSTRAINT staff_people_pkey PRIMARY KEY (staff),
    CONSTRAINT staff_people_sign_in_name_key UNIQUE (sign_in_name),
    CONSTRAINT staff_people_staff_known FOREIGN KEY (staff) REFERENCES gateway.staff (staff),
    CONSTRAINT staff_people_sign_in_name_size CHECK (char_length(sign_in_name) BETWEEN 1 AND 64),
    CONSTRAINT staff_people_name_size CHECK (char_length(name) BETWEEN 1 AND 80)
);

-- The password's hash, and the second factor's secret under a key that this database does not have. Before the enrolment:
-- the one-time password's hash, and the secret that the member is shown.
CREATE TABLE gateway.staff_secrets (
    one_time_until timestamptz,
    last_step bigint NOT NULL DEFAULT 0,
    staff text COLLATE "C" NOT NULL,
    password_hash text COLLATE "C" NOT NULL,
    encrypted_with text COLLATE "C",
    factor bytea,
    CONSTRAINT staff_secrets_pkey PRIMARY KEY (staff),
    CONSTRAINT staff_secrets_staff_known FOREIGN KEY (staff) REFERENCES gateway.staff (staff),
    CONSTRAINT staff_secrets_password_size CHECK (char_length(password_hash) BETWEEN 30 AND 300),
    CONSTRAINT staff_secrets_factor_size CHECK (octet_length(factor) BETWEEN 29 AND 256),
    CONSTRAINT staff_secrets_factor_has_key CHECK ((factor IS NULL) = (encrypted_with IS NULL)),
    CONSTRAINT staff_secrets_enrolled_has_factor CHECK (one_time_until IS NOT NULL OR factor IS NOT NULL)
);

COMMENT ON COLUMN gateway.staff_secrets.one_time_until IS 'The password is for one time, up to this moment; null: the member chose it.';
COMMENT ON COLUMN gateway.staff_secrets.last_step IS 'The latest time step whose code was taken; no earlier one is, nor itself again.';

CREATE TABLE gateway.staff_recovery_codes (
    staff text COLLATE "C" NOT NULL,
    code_hash bytea NOT NULL,
    CONSTRAINT staff_recovery_codes_pkey PRIMARY KEY (staff, code_hash),
    CONSTRAINT staff_recovery_codes_staff_known FOREIGN KEY (staff) REFERENCES gateway.staff (staff),
    CONSTRAINT staff_recovery_codes_hash_size CHECK (octet_length(code_hash) = 32)
);

CREATE FUNCTION gateway.grant_staff(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON gateway.staff TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.staff_people, gateway.staff_secrets,'
                   ' gateway.staff_recovery_codes TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_staff(name) FROM PUBLIC;
