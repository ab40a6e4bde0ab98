-- The chats of tables. What is said is no event: lines lie here, are removed after a while, and with the person whose they
-- are (`gateway.people`).

-- How many things the chat of a table has told. Its row is locked by whoever adds one, so numbers follow each other in the
-- order of their commits, and whoever has read up to one has missed nothing before it.
CREATE TABLE gateway.chat_tables (
    told bigint NOT NULL DEFAULT 0,
    table_id text COLLATE "C" NOT NULL,
    CONSTRAINT chat_tables_pkey PRIMARY KEY (table_id),
    CONSTRAINT chat_tables_table_form CHECK (table_id ~ '^[A-Za-z0-9_-]{1,64}$')
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- `line` is its number when it was said, `told` the one when it was told last: taken away, it is told again.
CREATE TABLE gateway.chat_lines (
    line bigint NOT NULL,
    told bigint NOT NULL,
    said_at timestamptz NOT NULL,
    removed_at timestamptz,
    table_id text COLLATE "C" NOT NULL,
    player text COLLATE "C" NOT NULL,
    message text COLLATE "C" NOT NULL,
    nickname text NOT NULL,
    body text NOT NULL,
    CONSTRAINT chat_lines_pkey PRIMARY KEY (table_id, line),
    CONSTRAINT chat_lines_told_key UNIQUE (table_id, told),
    CONSTRAINT chat_lines_message_key UNIQUE (player, message),
    CONSTRAINT chat_lines_table_known FOREIGN KEY (table_id) REFERENCES gateway.chat_tables (table_id),
    CONSTRAINT chat_lines_player_known FOREIGN KEY (player) REFERENCES gateway.people (player) ON DELETE CASCADE,
    CONSTRAINT chat_lines_body_size CHECK (char_length(body) BETWEEN 1 AND 200),
    CONSTRAINT chat_lines_nickname_size CHECK (char_length(nickname) BETWEEN 1 AND 32)
) WITH (fillfactor = 90);

CREATE INDEX chat_lines_player_idx ON gateway.chat_lines (player, said_at);
CREATE INDEX chat_lines_said_idx ON gateway.chat_lines (said_at);

COMMENT ON COLUMN gateway.chat_lines.message IS 'The id of the message that said it: the same again is the same line.';

-- What players may: who has no row may chat.
CREATE TABLE gateway.chat_players (
    muted_until timestamptz,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    is_revoked boolean NOT NULL DEFAULT false,
    player text COLLATE "C" NOT NULL,
    changed_by text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    CONSTRAINT chat_players_pkey PRIMARY KEY (player),
    CONSTRAINT chat_players_player_known FOREIGN KEY (player) REFERENCES gateway.players (player),
    CONSTRAINT chat_players_reason_size CHECK (char_length(reason) BETWEEN 1 AND 500)
);

-- Words that nobody may say, as they are compared: small letters, look-alikes folded.
CREATE TABLE gateway.chat_words (
    added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    word text COLLATE "C" NOT NULL,
    added_by text COLLATE "C" NOT NULL,
    CONSTRAINT chat_words_pkey PRIMARY KEY (word),
    CONSTRAINT chat_words_word_size CHECK (char_length(word) BETWEEN 2 AND 40)
);

CREATE FUNCTION gateway.grant_chat(service name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON gateway.chat_tables, gateway.chat_players TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.chat_lines TO %I', service);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON gateway.chat_words TO %I', service);
END
$$;

REVOKE ALL ON FUNCTION gateway.grant_chat(name) FROM PUBLIC;
