-- The same tables in MySQL or MariaDB, in a database with `utf8mb4`.
CREATE TABLE organisations (
    id   int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    slug varchar(50) NOT NULL UNIQUE,
    name varchar(200) NOT NULL
);
CREATE TABLE api_keys (
    id         int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    org_id     int NOT NULL,
    token_hash binary(32) NOT NULL UNIQUE,
    scope      varchar(200) NOT NULL DEFAULT 'all',
    FOREIGN KEY (org_id) REFERENCES organisations (id)
);
CREATE TABLE supporters (
    id              int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    organisation_id int NOT NULL,
    first_name      varchar(100),
    last_name       varchar(100),
    full_name       varchar(201) GENERATED ALWAYS AS (trim(concat(coalesce(first_name, ''), ' ', coalesce(last_name, '')))) STORED,
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
    extra           json,
    legacy_score    int NOT NULL DEFAULT 0,
    created_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    deleted_at      datetime(6),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE TABLE petitions (
    id              int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    organisation_id int NOT NULL,
    slug            varchar(100) NOT NULL,
    title           varchar(200),
    body            text,
    created_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    deleted_at      datetime(6),
    UNIQUE (organisation_id, slug),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE TABLE petition_signatures (
    id           int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    petition_id  int NOT NULL,
    supporter_id int NOT NULL,
    comment      text,
    signed_at    datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    UNIQUE (petition_id, supporter_id),
    FOREIGN KEY (petition_id) REFERENCES petitions (id),
    FOREIGN KEY (supporter_id) REFERENCES supporters (id)
);
CREATE TABLE donation_pages (
    id              int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    organisation_id int NOT NULL,
    slug            varchar(100) NOT NULL,
    title           varchar(200),
    active          boolean NOT NULL DEFAULT true,
    created_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    UNIQUE (organisation_id, slug),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE TABLE donations (
    id              int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    organisation_id int NOT NULL,
    supporter_id    int NOT NULL,
    page_slug       varchar(100) NOT NULL,
    amount_cents    int NOT NULL,
    currency        char(3) NOT NULL DEFAULT 'USD',
    refunded        boolean NOT NULL DEFAULT false,
    created_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at      datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (supporter_id) REFERENCES supporters (id)
);
