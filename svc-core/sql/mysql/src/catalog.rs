//! The tables of the library, and the statements that read the catalog.

/// The tables of the library. Their text is compared character by character. An identifier is binary,
/// because two of them can differ in spaces at the end.
pub(crate) const LIBRARY_TABLES: [&str; 6] = [
    "CREATE TABLE IF NOT EXISTS svc_turns (tenant varchar(190) NOT NULL PRIMARY KEY, clock bigint NOT NULL) \
     ENGINE InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS svc_identifiers (tenant varchar(190) NOT NULL, kind varchar(32) NOT NULL, \
     identifier varbinary(2048) NOT NULL, record varchar(190) NOT NULL, place bigint NOT NULL, \
     PRIMARY KEY (tenant, kind, identifier), KEY svc_identifiers_record (tenant, kind, record)) \
     ENGINE InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS svc_numbers (name varchar(190) NOT NULL PRIMARY KEY, last bigint NOT NULL) \
     ENGINE InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS svc_secrets (name varchar(64) NOT NULL PRIMARY KEY, secret varchar(190) NOT NULL) \
     ENGINE InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS svc_forwards (tenant varchar(190) NOT NULL, person varchar(190) NOT NULL, \
     remaining varchar(190) NOT NULL, PRIMARY KEY (tenant, person), KEY svc_forwards_remaining (tenant, remaining)) \
     ENGINE InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS svc_dispatches (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, \
     tenant varchar(190) NOT NULL, person varchar(190), due bigint NOT NULL, attempts bigint NOT NULL, \
     body longtext NOT NULL, KEY svc_dispatches_person (tenant, person), KEY svc_dispatches_due (due)) \
     ENGINE InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
];

/// Starts a statement with `n`: the quoted names, and the schema and table of each.
macro_rules! with_names {
    ($statement:literal) => {
        concat!(
            "WITH n AS (SELECT j.name, \
             CASE WHEN LOCATE('`.`', j.name) > 0 THEN SUBSTRING(j.name, 2, LOCATE('`.`', j.name) - 2) ELSE DATABASE() END \
             COLLATE utf8mb4_bin AS schema_of, \
             CASE WHEN LOCATE('`.`', j.name) > 0 \
             THEN SUBSTRING(j.name, LOCATE('`.`', j.name) + 3, CHAR_LENGTH(j.name) - LOCATE('`.`', j.name) - 3) \
             ELSE SUBSTRING(j.name, 2, CHAR_LENGTH(j.name) - 2) END COLLATE utf8mb4_bin AS table_of \
             FROM JSON_TABLE(CONVERT(? USING utf8mb4), '$[*]' COLUMNS (name varchar(140) CHARACTER SET utf8mb4 PATH '$')) j) ",
            $statement
        )
    };
}

/// MariaDB has constraint names that are unique in a table only, and a column for the table, which MySQL
/// does not have. A natural join is right for both.
///
/// The default of a column is SQL in MariaDB. In MySQL it is the value, unless it is an expression.
pub(crate) const CATALOG: [&str; 4] = [
    with_names!(
        "SELECT n.name, c.column_name, \
         CASE WHEN c.collation_name IS NULL THEN c.column_type ELSE CONCAT(c.column_type, ' COLLATE ', c.collation_name) END, \
         CASE WHEN c.column_type IN ('tinyint(1)', 'bit(1)') THEN 'boolean' WHEN c.data_type = 'int' THEN 'integer' \
         WHEN c.data_type = 'tinyint' THEN 'int1' WHEN c.data_type = 'mediumint' THEN 'int3' \
         WHEN c.data_type LIKE '%text' THEN CASE WHEN EXISTS (SELECT 1 FROM information_schema.check_constraints \
         NATURAL JOIN information_schema.table_constraints WHERE constraint_schema = c.table_schema \
         AND table_name = c.table_name AND check_clause = CONCAT('json_valid(`', c.column_name, '`)')) \
         THEN 'json' ELSE 'text' END ELSE c.data_type END, \
         CASE WHEN c.is_nullable = 'YES' THEN '1' ELSE '0' END, \
         CASE WHEN COALESCE(c.column_default, 'NULL') <> 'NULL' OR c.extra LIKE '%auto_increment%' \
         OR c.extra LIKE '%GENERATED%' THEN '1' ELSE '0' END, \
         CASE WHEN c.data_type IN ('char', 'varchar') THEN CONVERT(c.character_maximum_length USING utf8mb4) END, \
         CASE WHEN c.data_type = 'enum' THEN CONCAT('[\"', REPLACE(REPLACE(REPLACE(SUBSTRING(c.column_type, 7, \
         CHAR_LENGTH(c.column_type) - 8), '\"', '\\\\\"'), ''',''', '\",\"'), '''''', ''''), '\"]') END, \
         CASE WHEN VERSION() LIKE '%MariaDB%' THEN NULLIF(c.column_default, 'NULL') WHEN c.column_default IS NULL THEN NULL \
         WHEN c.extra LIKE '%DEFAULT_GENERATED%' THEN c.column_default ELSE QUOTE(c.column_default) END, \
         CASE WHEN COALESCE(c.generation_expression, '') <> '' THEN '1' ELSE '0' END \
         FROM n JOIN information_schema.columns c ON c.table_schema = n.schema_of AND c.table_name = n.table_of \
         ORDER BY n.name, c.ordinal_position"
    ),
    with_names!(
        "SELECT n.name, CONCAT('[', GROUP_CONCAT(JSON_QUOTE(COALESCE(s.column_name, '')) ORDER BY s.seq_in_index \
         SEPARATOR ','), ']'), \
         CASE WHEN MAX(s.non_unique) = 0 AND COUNT(s.sub_part) = 0 THEN '1' ELSE '0' END, \
         CASE WHEN s.index_name = 'PRIMARY' THEN '1' ELSE '0' END, '1' \
         FROM n JOIN information_schema.statistics s ON s.table_schema = n.schema_of AND s.table_name = n.table_of \
         WHERE s.index_type IN ('BTREE', 'HASH') GROUP BY n.name, s.index_name ORDER BY n.name, s.index_name"
    ),
    with_names!(
        "SELECT r.name, r.column_name, CONCAT('= ANY ', SUBSTRING(r.rule, LOCATE(' in (', r.rule) + 4)) \
         FROM (SELECT n.name, c.column_name, c.ordinal_position, \
         REPLACE(REPLACE(k.check_clause, '_utf8mb4\\\\''', ''''), '\\\\''', '''') AS rule \
         FROM n JOIN information_schema.columns c ON c.table_schema = n.schema_of AND c.table_name = n.table_of \
         JOIN (SELECT constraint_schema, table_name, check_clause FROM information_schema.check_constraints \
         NATURAL JOIN information_schema.table_constraints) k \
         ON k.constraint_schema = c.table_schema AND k.table_name = c.table_name) r \
         WHERE r.rule REGEXP CONCAT('^[(]*`', r.column_name, '` in [(]''[^'']*''(,''[^'']*'')*[)]+$') \
         ORDER BY r.name, r.ordinal_position"
    ),
    with_names!(
        "SELECT n.name, CONCAT(k.table_schema, '.', k.table_name, '.', k.constraint_name), m.name, \
         CASE WHEN k.table_schema = DATABASE() THEN k.table_name ELSE CONCAT(k.table_schema, '.', k.table_name) END, \
         k.column_name, k.referenced_column_name \
         FROM n JOIN information_schema.key_column_usage k \
         ON k.referenced_table_schema = n.schema_of AND k.referenced_table_name = n.table_of \
         LEFT JOIN n m ON m.schema_of = k.table_schema AND m.table_of = k.table_name \
         ORDER BY n.name, k.table_schema, k.table_name, k.constraint_name, k.ordinal_position"
    ),
];
