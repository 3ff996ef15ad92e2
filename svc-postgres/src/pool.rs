//! Connections: made when they are needed, kept while they are clean, never more than may be.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{Client, Config, NoTls, Statement};

use crate::error::{Result, StoreError};

/// The connections of a store.
#[derive(Debug)]
pub(crate) struct Pool {
    config: Config,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
    patience: Duration,
}

/// A connection with the statements that it has prepared.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    prepared: HashMap<String, Statement>,
}

/// A connection that somebody uses. It goes back to the pool by [`Lent::done`] only: whoever drops it on the way leaves
/// something open, and the connection is closed.
#[derive(Debug)]
pub(crate) struct Lent {
    connection: Connection,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(config: Config, size: usize, patience: Duration) -> Self {
        Self { config, idle: Mutex::default(), places: Arc::new(Semaphore::new(size)), patience }
    }

    /// A connection, as soon as one is free.
    pub(crate) async fn get(&self) -> Result<Lent> {
        let place = tokio::time::timeout(self.patience, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(StoreError::Busy) };
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(connection) if connection.client.is_closed() => {}
                Some(connection) => return Ok(Lent { connection, _place: place }),
                None => return Ok(Lent { connection: self.connect().await?, _place: place }),
            }
        }
    }

    async fn connect(&self) -> Result<Connection> {
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL has ended");
            }
        });
        Ok(Connection { client, prepared: HashMap::new() })
    }

    /// Takes a connection back on which nothing is open.
    pub(crate) fn done(&self, lent: Lent) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(lent.connection);
    }
}

impl Lent {
    pub(crate) fn client(&self) -> &Client {
        &self.connection.client
    }

    /// Prepares what this connection has not met yet.
    pub(crate) async fn prepare(&mut self, texts: &[&str]) -> Result<()> {
        for text in texts {
            if !self.connection.prepared.contains_key(*text) {
                let statement = self.connection.client.prepare(text).await?;
                self.connection.prepared.insert((*text).to_owned(), statement);
            }
        }
        Ok(())
    }

    /// A statement that was prepared.
    pub(crate) fn statement(&self, text: &str) -> Result<&Statement> {
        self.connection.prepared.get(text).ok_or_else(|| StoreError::unexpected("a statement that was not prepared"))
    }
}
