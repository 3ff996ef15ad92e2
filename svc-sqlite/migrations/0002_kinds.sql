-- One table for each kind of record. `seq` is the order of creation and is never given twice; links hold the id of the
-- record they lead to; `identifiers` are the elements of a JSON array, `body` the members of a JSON object, both ready
-- for the wire. Times are microseconds since 1970 in UTC. The index of ids begins with the id, not the tenant, for the one
-- look-up that does not know the tenant: whose a container is that a helper call without a key names.

CREATE TABLE people (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    modified_by BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX people_all ON people (tenant);
CREATE INDEX people_by_modified_by ON people (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE petitions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX petitions_all ON petitions (tenant);
CREATE INDEX petitions_by_creator ON petitions (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX petitions_by_modified_by ON petitions (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    organizer BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX events_all ON events (tenant);
CREATE INDEX events_by_creator ON events (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX events_by_modified_by ON events (tenant, modified_by) WHERE modified_by IS NOT NULL;
CREATE INDEX events_by_organizer ON events (tenant, organizer) WHERE organizer IS NOT NULL;

CREATE TABLE forms (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX forms_all ON forms (tenant);
CREATE INDEX forms_by_creator ON forms (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX forms_by_modified_by ON forms (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE fundraising_pages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    currency TEXT,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX fundraising_pages_all ON fundraising_pages (tenant);
CREATE INDEX fundraising_pages_by_creator ON fundraising_pages (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX fundraising_pages_by_modified_by ON fundraising_pages (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE donations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    fundraising_page BLOB,
    person BLOB,
    attendance BLOB,
    submission BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX donations_all ON donations (tenant);
CREATE INDEX donations_by_fundraising_page ON donations (tenant, fundraising_page) WHERE fundraising_page IS NOT NULL;
CREATE INDEX donations_by_person ON donations (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX donations_by_attendance ON donations (tenant, attendance) WHERE attendance IS NOT NULL;
CREATE INDEX donations_by_submission ON donations (tenant, submission) WHERE submission IS NOT NULL;

CREATE TABLE tags (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    name TEXT,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant),
    UNIQUE (tenant, name)
) STRICT;

CREATE INDEX tags_all ON tags (tenant);
CREATE INDEX tags_by_creator ON tags (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX tags_by_modified_by ON tags (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE lists (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    name TEXT,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant),
    UNIQUE (tenant, name)
) STRICT;

CREATE INDEX lists_all ON lists (tenant);
CREATE INDEX lists_by_creator ON lists (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX lists_by_modified_by ON lists (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE queries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX queries_all ON queries (tenant);
CREATE INDEX queries_by_creator ON queries (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX queries_by_modified_by ON queries (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE questions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX questions_all ON questions (tenant);
CREATE INDEX questions_by_creator ON questions (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX questions_by_modified_by ON questions (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE share_pages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX share_pages_all ON share_pages (tenant);
CREATE INDEX share_pages_by_creator ON share_pages (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX share_pages_by_modified_by ON share_pages (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE advocacy_campaigns (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    creator BLOB,
    modified_by BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX advocacy_campaigns_all ON advocacy_campaigns (tenant);
CREATE INDEX advocacy_campaigns_by_creator ON advocacy_campaigns (tenant, creator) WHERE creator IS NOT NULL;
CREATE INDEX advocacy_campaigns_by_modified_by ON advocacy_campaigns (tenant, modified_by) WHERE modified_by IS NOT NULL;

CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    scheduled_start INTEGER,
    scheduled_stop INTEGER,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX messages_all ON messages (tenant);

CREATE TABLE signatures (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    person BLOB,
    petition BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX signatures_by_person ON signatures (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX signatures_by_petition ON signatures (tenant, petition) WHERE petition IS NOT NULL;

CREATE TABLE submissions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    person BLOB,
    form BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX submissions_by_person ON submissions (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX submissions_by_form ON submissions (tenant, form) WHERE form IS NOT NULL;

CREATE TABLE attendances (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    event BLOB,
    person BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX attendances_by_event ON attendances (tenant, event) WHERE event IS NOT NULL;
CREATE INDEX attendances_by_person ON attendances (tenant, person) WHERE person IS NOT NULL;

CREATE TABLE outreaches (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    person BLOB,
    advocacy_campaign BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX outreaches_by_person ON outreaches (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX outreaches_by_advocacy_campaign ON outreaches (tenant, advocacy_campaign) WHERE advocacy_campaign IS NOT NULL;

CREATE TABLE answers (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    person BLOB,
    question BLOB,
    submission BLOB,
    canvass BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX answers_by_person ON answers (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX answers_by_question ON answers (tenant, question) WHERE question IS NOT NULL;
CREATE INDEX answers_by_submission ON answers (tenant, submission) WHERE submission IS NOT NULL;
CREATE INDEX answers_by_canvass ON answers (tenant, canvass) WHERE canvass IS NOT NULL;

CREATE TABLE taggings (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    person BLOB,
    tag BLOB,
    canvass BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant),
    UNIQUE (tenant, tag, person)
) STRICT;

CREATE INDEX taggings_by_person ON taggings (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX taggings_by_tag ON taggings (tenant, tag) WHERE tag IS NOT NULL;
CREATE INDEX taggings_by_canvass ON taggings (tenant, canvass) WHERE canvass IS NOT NULL;

CREATE TABLE items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    person BLOB,
    list BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant),
    UNIQUE (tenant, list, person)
) STRICT;

CREATE INDEX items_by_person ON items (tenant, person) WHERE person IS NOT NULL;
CREATE INDEX items_by_list ON items (tenant, list) WHERE list IS NOT NULL;

CREATE TABLE canvasses (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    canvasser BLOB,
    target BLOB,
    identifiers TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id, tenant)
) STRICT;

CREATE INDEX canvasses_by_canvasser ON canvasses (tenant, canvasser) WHERE canvasser IS NOT NULL;
CREATE INDEX canvasses_by_target ON canvasses (tenant, target) WHERE target IS NOT NULL;

-- Foreign identifiers, each with one record of its kind: the first 16 bytes of their SHA-256.
CREATE TABLE identifier (
    tenant INTEGER NOT NULL,
    kind   INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind, hash)
) STRICT, WITHOUT ROWID;

-- E-mail addresses of people in normal form, as the first 16 bytes of their SHA-256.
CREATE TABLE email (
    tenant INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash, seq)
) STRICT, WITHOUT ROWID;

-- How many records of a kind are in a collection: in that of all (`scope` 0, `owner` empty), or in that under one
-- record. For the attendances of an event also what they hold, for the donations of a page what they sum up to.
CREATE TABLE total (
    tenant   INTEGER NOT NULL,
    kind     INTEGER NOT NULL,
    scope    INTEGER NOT NULL,
    owner    BLOB NOT NULL,
    records  INTEGER NOT NULL DEFAULT 0,
    accepted INTEGER NOT NULL DEFAULT 0,
    tickets  INTEGER NOT NULL DEFAULT 0,
    amount   TEXT NOT NULL DEFAULT '0',
    PRIMARY KEY (tenant, kind, scope, owner)
) STRICT, WITHOUT ROWID;

-- Parts of such a sum: the donations of a page by currency, the tickets of an event by title.
CREATE TABLE part (
    tenant  INTEGER NOT NULL,
    owner   BLOB NOT NULL,
    name    TEXT NOT NULL,
    tickets INTEGER NOT NULL DEFAULT 0,
    amount  TEXT NOT NULL DEFAULT '0',
    PRIMARY KEY (tenant, owner, name)
) STRICT, WITHOUT ROWID;

-- People who were recognised in a ticket: which ticket of which attendance. A place of -1 stands for any.
CREATE TABLE holder (
    tenant     INTEGER NOT NULL,
    person     BLOB NOT NULL,
    attendance INTEGER NOT NULL,
    place      INTEGER NOT NULL,
    PRIMARY KEY (tenant, person, attendance, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX holder_by_attendance ON holder (tenant, attendance);

-- Server responses that helper calls asked for; nothing is sent from here.
CREATE TABLE outbox (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  INTEGER NOT NULL REFERENCES tenant (id),
    created INTEGER NOT NULL,
    helper  TEXT NOT NULL,
    person  BLOB,
    action  BLOB,
    body    BLOB NOT NULL
) STRICT;

CREATE INDEX outbox_all ON outbox (tenant);
CREATE INDEX outbox_by_person ON outbox (tenant, person) WHERE person IS NOT NULL;
