//! The differences between one PostgreSQL server and a Citus cluster, which shards by tenant. Each
//! difference is decided here.
//!
//! Citus plans a statement that reads several tables only with its values. A generic plan is an
//! error there, and a prepared statement saves nothing.
//!
//! Citus adds the text of each `SET LOCAL` to the first statement that it sends to the worker. Each
//! setting is therefore a message of its own. Planner settings are left out, because they do not
//! affect the coordinator.

use std::time::Duration;

use crate::{
    citus_workers::CitusWorkers,
    options::{PostgresOptions, StatementMode},
    pipeline::SqlQuery,
};

/// The type of the database server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topology {
    /// One server, and its replicas.
    Server,
    /// A cluster, whose workers have the tables, sharded by tenant.
    Cluster,
}

impl Topology {
    pub(crate) fn of(options: &PostgresOptions) -> Self {
        if options.cluster {
            Self::Cluster
        } else {
            Self::Server
        }
    }

    /// Returns `BEGIN` with the settings of a transaction: the lock timeout and the timeout for the
    /// next statement. With row-level security it also sets the tenant.
    pub(crate) fn begin(self, patience: Duration, tenant: Option<&str>) -> Vec<SqlQuery<'static>> {
        let millis = patience.as_millis().max(1);
        let mut settings = vec![
            format!("lock_timeout = {millis}"),
            format!(
                "idle_in_transaction_session_timeout = {}",
                millis.saturating_mul(2)
            ),
        ];
        settings.extend(tenant.map(|tenant| format!("svc.tenant = '{tenant}'")));
        match self {
            Self::Server => {
                // Every statement looks up a few keys. For a table that was never analyzed, the
                // planner would otherwise prefer to read all of it.
                settings.push("plan_cache_mode = force_generic_plan".to_owned());
                let avoided = [
                    "enable_seqscan",
                    "enable_hashjoin",
                    "enable_mergejoin",
                    "enable_material",
                ];
                settings.extend(avoided.map(|way| format!("{way} = off")));
                vec![SqlQuery::control(format!(
                    "BEGIN; SET LOCAL {}",
                    settings.join("; SET LOCAL ")
                ))]
            }
            Self::Cluster => {
                let messages = [
                    "BEGIN".to_owned(),
                    "SET LOCAL citus.propagate_set_commands = 'local'".to_owned(),
                ];
                let settings = settings
                    .into_iter()
                    .map(|setting| format!("SET LOCAL {setting}"));
                messages
                    .into_iter()
                    .chain(settings)
                    .map(SqlQuery::control)
                    .collect()
            }
        }
    }

    /// Returns how statements are sent. A cluster plans each execution anyway, and each of its
    /// sessions would hold about 45 MB of plans.
    pub(crate) fn statements(self, chosen: StatementMode) -> StatementMode {
        match self {
            Self::Server => chosen,
            Self::Cluster => StatementMode::Unnamed,
        }
    }

    /// Returns whether a page is read in two statements. A cluster sends each of them to one shard
    /// with little planning. A record that is committed between them may be on a page whose total
    /// does not count it yet.
    pub(crate) fn splits_pages(self) -> bool {
        self == Self::Cluster
    }

    /// Returns the workers, which are queried directly.
    pub(crate) fn workers(self) -> Option<CitusWorkers> {
        (self == Self::Cluster).then(CitusWorkers::default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(topology: Topology, tenant: Option<&str>) -> Vec<String> {
        let queries = topology.begin(Duration::from_secs(2), tenant);
        assert!(queries.iter().all(|query| query.values.is_none()));
        queries
            .into_iter()
            .map(|query| query.text.into_owned())
            .collect()
    }

    /// Citus rejects generic plans with 0A000, and its work for a text with several settings is
    /// quadratic.
    #[test]
    fn a_cluster_gets_each_setting_alone_and_none_of_the_planner() {
        let settings = [
            "BEGIN",
            "SET LOCAL citus.propagate_set_commands = 'local'",
            "SET LOCAL lock_timeout = 2000",
            "SET LOCAL idle_in_transaction_session_timeout = 4000",
        ];
        assert_eq!(begin(Topology::Cluster, None), settings);
        let fenced = begin(Topology::Cluster, Some("7"));
        assert_eq!(
            fenced,
            [&settings[..], &["SET LOCAL svc.tenant = '7'"]].concat()
        );
        assert!(fenced.iter().all(|text| !text.contains("plan")
            && !text.contains("enable_")
            && !text.contains(';')));
    }

    #[test]
    fn a_server_gets_all_settings_in_one_message() {
        let text = "BEGIN; SET LOCAL lock_timeout = 2000; SET LOCAL idle_in_transaction_session_timeout = 4000; \
                    SET LOCAL svc.tenant = 'directory'; SET LOCAL plan_cache_mode = force_generic_plan; \
                    SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; \
                    SET LOCAL enable_material = off";
        assert_eq!(begin(Topology::Server, Some("directory")), [text]);
    }

    #[test]
    fn the_option_decides_everything_else() {
        let options = PostgresOptions::new("postgres://localhost/crm").unwrap();
        let (server, cluster) = (Topology::of(&options), Topology::of(&options.cluster()));
        assert_eq!((server, cluster), (Topology::Server, Topology::Cluster));
        assert_eq!(
            server.statements(StatementMode::Prepared),
            StatementMode::Prepared
        );
        assert_eq!(
            cluster.statements(StatementMode::Prepared),
            StatementMode::Unnamed
        );
        assert!(!server.splits_pages() && server.workers().is_none());
        assert!(cluster.splits_pages() && cluster.workers().is_some());
    }
}
