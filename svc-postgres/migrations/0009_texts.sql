-- Filters by text (FLT-14): the texts of filterable fields, in the form in which they are compared, ordered by code points. The
-- program adds the texts of existing records after this migration.
CREATE TABLE {s}.text_key (
    tenant bigint NOT NULL,
    field  text NOT NULL,
    text   text COLLATE "C" NOT NULL,
    seq    bigint NOT NULL,
    PRIMARY KEY (tenant, field, text, seq)
);
CREATE INDEX text_key_by_record ON {s}.text_key (tenant, seq);
