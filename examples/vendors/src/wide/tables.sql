-- The tables of an old program, as they are: wide rows, numbered ids, amounts in cents, deleted rows that remain.
CREATE TABLE organisations (
    id   serial PRIMARY KEY,
    slug varchar(50) NOT NULL UNIQUE,
    name varchar(200) NOT NULL
);
CREATE TABLE api_keys (
    id         serial PRIMARY KEY,
    org_id     integer NOT NULL REFERENCES organisations,
    token_hash bytea NOT NULL UNIQUE,
    scope      varchar(200) NOT NULL DEFAULT 'all'
);
CREATE TABLE supporters (
    id              serial PRIMARY KEY,
    organisation_id integer NOT NULL REFERENCES organisations,
    first_name      varchar(100),
    last_name       varchar(100),
    full_name       text GENERATED ALWAYS AS (trim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))) STORED,
    email           varchar(255),
    email2          varchar(255),
    opt_in          boolean NOT NULL,
    phone_home      varchar(40),
    phone_mobile    varchar(40),
    street          varchar(200),
    city            varchar(100),
    state           varchar(50),
    zip             varchar(20),
    languages       varchar(200),
    extra           jsonb,
    legacy_score    integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    deleted_at      timestamptz
);
CREATE TABLE petitions (
    id              serial PRIMARY KEY,
    organisation_id integer NOT NULL REFERENCES organisations,
    slug            varchar(100) NOT NULL,
    title           varchar(200),
    body            text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    deleted_at      timestamptz,
    UNIQUE (organisation_id, slug)
);
CREATE TABLE petition_signatures (
    id           serial PRIMARY KEY,
    petition_id  integer NOT NULL REFERENCES petitions,
    supporter_id integer NOT NULL REFERENCES supporters,
    comment      text,
    signed_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (petition_id, supporter_id)
);
CREATE TABLE donation_pages (
    id              serial PRIMARY KEY,
    organisation_id integer NOT NULL REFERENCES organisations,
    slug            varchar(100) NOT NULL,
    title           varchar(200),
    active          boolean NOT NULL DEFAULT true,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organisation_id, slug)
);
CREATE TABLE donations (
    id              serial PRIMARY KEY,
    organisation_id integer NOT NULL REFERENCES organisations,
    supporter_id    integer NOT NULL REFERENCES supporters,
    page_slug       varchar(100) NOT NULL,
    amount_cents    integer NOT NULL,
    refunded        boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);
