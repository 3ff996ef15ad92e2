-- The same tables in MySQL or MariaDB, in a database with `utf8mb4`, as such programs have them: text is compared without regard to
-- case.
CREATE TABLE orgs (
    id   bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    slug varchar(100) NOT NULL UNIQUE,
    name varchar(255) NOT NULL
);
CREATE TABLE api_keys (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    org_id     bigint NOT NULL,
    token_hash binary(32) NOT NULL UNIQUE,
    scope      varchar(255) NOT NULL DEFAULT 'all',
    label      varchar(255) NOT NULL,
    FOREIGN KEY (org_id) REFERENCES orgs (id)
);
CREATE TABLE contacts (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    public_id  char(36) NOT NULL UNIQUE DEFAULT (uuid()),
    org_id     bigint NOT NULL,
    first_name varchar(255),
    last_name  varchar(255),
    created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
    FOREIGN KEY (org_id) REFERENCES orgs (id)
);
CREATE INDEX contacts_org ON contacts (org_id, id);
CREATE TABLE contact_emails (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    contact_id bigint NOT NULL,
    address    varchar(255) NOT NULL,
    is_primary boolean NOT NULL DEFAULT false,
    FOREIGN KEY (contact_id) REFERENCES contacts (id) ON DELETE CASCADE
);
CREATE INDEX contact_emails_address ON contact_emails (address);
CREATE TABLE `groups` (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    public_id  char(36) NOT NULL UNIQUE DEFAULT (uuid()),
    org_id     bigint NOT NULL,
    name       varchar(255) NOT NULL,
    created_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    UNIQUE (org_id, name),
    FOREIGN KEY (org_id) REFERENCES orgs (id)
);
CREATE INDEX groups_org ON `groups` (org_id, id);
-- `svc_id` and `svc_order` are added for the mapping.
CREATE TABLE contact_groups (
    contact_id bigint NOT NULL,
    group_id   bigint NOT NULL,
    added_at   datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    svc_id     char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE DEFAULT (uuid()),
    svc_order  bigint NOT NULL AUTO_INCREMENT UNIQUE,
    PRIMARY KEY (contact_id, group_id),
    FOREIGN KEY (contact_id) REFERENCES contacts (id) ON DELETE CASCADE,
    FOREIGN KEY (group_id) REFERENCES `groups` (id) ON DELETE CASCADE
);
CREATE TABLE events (
    id          bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    public_id   char(36) NOT NULL UNIQUE DEFAULT (uuid()),
    org_id      bigint NOT NULL,
    title       varchar(255) NOT NULL,
    description text,
    starts_at   datetime(6) NOT NULL,
    ends_at     datetime(6),
    seats       int,
    created_at  datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at  datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    FOREIGN KEY (org_id) REFERENCES orgs (id)
);
CREATE INDEX events_org ON events (org_id, id);
CREATE TABLE rsvps (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    public_id  char(36) NOT NULL UNIQUE DEFAULT (uuid()),
    event_id   bigint NOT NULL,
    contact_id bigint NOT NULL,
    answer     varchar(10) NOT NULL CHECK (answer IN ('yes', 'no', 'maybe')),
    guests     int NOT NULL DEFAULT 0,
    created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    updated_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    UNIQUE (event_id, contact_id),
    FOREIGN KEY (event_id) REFERENCES events (id) ON DELETE CASCADE,
    FOREIGN KEY (contact_id) REFERENCES contacts (id) ON DELETE CASCADE
);
