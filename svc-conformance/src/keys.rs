//! The keys that a run may use.

/// The keys that a run may use.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Keys {
    pub(crate) primary: Option<String>,
    pub(crate) other_tenant: Option<String>,
    pub(crate) restricted: Option<(String, String)>,
}

impl Keys {
    /// Creates a set without keys. Only what needs no key can be judged.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a set with the key that has all rights that the server declares.
    #[must_use]
    pub fn primary(key: impl Into<String>) -> Self {
        Self {
            primary: Some(key.into()),
            ..Self::default()
        }
    }

    /// Adds a key of another tenant.
    ///
    /// Requirements: COL-02, AUT-02.
    #[must_use]
    pub fn other_tenant(mut self, key: impl Into<String>) -> Self {
        self.other_tenant = Some(key.into());
        self
    }

    /// Adds a key without the right to one operation, such as `people.create`.
    ///
    /// Requirements: AUT-04.
    #[must_use]
    pub fn restricted(mut self, key: impl Into<String>, lacks: impl Into<String>) -> Self {
        self.restricted = Some((key.into(), lacks.into()));
        self
    }

    /// Returns every key with the name that replaces it in recordings.
    pub(crate) fn secrets(&self) -> Vec<(String, String)> {
        let restricted = self.restricted.as_ref().map(|(key, _)| key);
        let keys = [
            (self.primary.as_ref(), "<key>"),
            (self.other_tenant.as_ref(), "<other key>"),
            (restricted, "<restricted key>"),
        ];
        keys.into_iter()
            .filter_map(|(key, name)| Some((key?.clone(), name.to_owned())))
            .collect()
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys")
            .field("primary", &self.primary.is_some())
            .field("other_tenant", &self.other_tenant.is_some())
            .field(
                "restricted",
                &self.restricted.as_ref().map(|(_, lacks)| lacks),
            )
            .finish()
    }
}
