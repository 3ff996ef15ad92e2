//! Removes members from stored JSON while its bytes are copied, without parsing it.

use std::collections::BTreeMap;

use super::{Json, scan::Scanner};

/// Selects the members of an object that are copied.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct MemberFilter {
    members: BTreeMap<String, MemberAction>,
    /// Whether members that are not named are copied.
    keeps_others: bool,
}

/// The action for a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberAction {
    /// The member is copied.
    Copy,
    /// The member is omitted.
    Skip,
    /// The member is copied, and a filter is applied to its object, or to the objects of its list.
    Filter(MemberFilter),
}

impl MemberFilter {
    /// Creates a filter that copies every member except those with another action.
    #[must_use]
    pub fn copy_others() -> Self {
        Self {
            keeps_others: true,
            ..Self::default()
        }
    }

    /// Sets the action for a member.
    #[must_use]
    pub fn with(mut self, name: &str, fate: MemberAction) -> Self {
        self.members.insert(name.to_owned(), fate);
        self
    }

    /// Returns whether every member is copied.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.keeps_others && self.members.is_empty()
    }

    /// Returns whether a member of this name is copied, at least in part.
    #[must_use]
    pub fn copies(&self, name: &str) -> bool {
        self.members
            .get(name)
            .map_or(self.keeps_others, |fate| *fate != MemberAction::Skip)
    }

    /// Appends the selected members. It appends nothing if the bytes are not `"name":value` pairs
    /// separated by commas.
    pub fn copy(&self, members: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let mut scan = Scanner::new(members);
        if self.members(&mut scan, None, out).is_none() {
            out.truncate(start);
        }
    }

    /// Copies members up to the closing brace, or up to the end if there is none.
    fn members(&self, scan: &mut Scanner<'_>, end: Option<u8>, out: &mut Vec<u8>) -> Option<()> {
        let mut is_first = true;
        scan.skip_space();
        while scan.peek() != end {
            let name = skipped_bytes(scan, string)?;
            scan.skip_space();
            scan.take(b':').then_some(())?;
            let fate = self.action(name);
            if matches!(fate, Some(MemberAction::Skip)) {
                scan.skip_space();
                value(scan)?;
            } else {
                if !is_first {
                    out.push(b',');
                }
                is_first = false;
                out.extend_from_slice(name);
                out.push(b':');
                match fate {
                    Some(MemberAction::Filter(filter)) => filter.value(scan, out)?,
                    _ => copied(scan, out)?,
                }
            }
            scan.skip_space();
            if !scan.take(b',') {
                break;
            }
            scan.skip_space();
        }
        (scan.peek() == end).then_some(())
    }

    /// Copies an object or a list of objects; any other value is copied unchanged.
    fn value(&self, scan: &mut Scanner<'_>, out: &mut Vec<u8>) -> Option<()> {
        scan.skip_space();
        match scan.peek()? {
            b'{' => {
                scan.next();
                out.push(b'{');
                self.members(scan, Some(b'}'), out)?;
                scan.next();
                out.push(b'}');
                Some(())
            }
            b'[' => {
                scan.next();
                out.push(b'[');
                scan.skip_space();
                while !scan.take(b']') {
                    self.value(scan, out)?;
                    scan.skip_space();
                    if scan.take(b',') {
                        out.push(b',');
                    } else if scan.peek() != Some(b']') {
                        return None;
                    }
                    scan.skip_space();
                }
                out.push(b']');
                Some(())
            }
            _ => copied(scan, out),
        }
    }

    fn action(&self, name: &[u8]) -> Option<&MemberAction> {
        const LEFT_OUT: &MemberAction = &MemberAction::Skip;
        let bare = name
            .strip_prefix(b"\"")
            .and_then(|name| name.strip_suffix(b"\""))
            .unwrap_or(name);
        let known = if bare.contains(&b'\\') {
            Json::read_kept(name).and_then(|name| self.members.get(name.as_str()?))
        } else {
            std::str::from_utf8(bare)
                .ok()
                .and_then(|name| self.members.get(name))
        };
        known.or_else(|| (!self.keeps_others).then_some(LEFT_OUT))
    }
}

/// Copies a value unchanged.
fn copied(scan: &mut Scanner<'_>, out: &mut Vec<u8>) -> Option<()> {
    scan.skip_space();
    out.extend_from_slice(skipped_bytes(scan, value)?);
    Some(())
}

/// Returns the bytes that a function skips.
fn skipped_bytes<'a>(
    scan: &mut Scanner<'a>,
    go: impl FnOnce(&mut Scanner<'a>) -> Option<()>,
) -> Option<&'a [u8]> {
    let before = scan.rest();
    go(scan)?;
    before.get(..before.len().checked_sub(scan.rest().len())?)
}

/// Skips a string.
fn string(scan: &mut Scanner<'_>) -> Option<()> {
    scan.take(b'"').then_some(())?;
    loop {
        match scan.next()? {
            b'"' => return Some(()),
            b'\\' => drop(scan.next()?),
            _ => {}
        }
    }
}

/// Skips a value.
fn value(scan: &mut Scanner<'_>) -> Option<()> {
    let mut depth = 0_usize;
    loop {
        match scan.peek()? {
            b'"' => string(scan)?,
            b'{' | b'[' => {
                scan.next();
                depth = depth.saturating_add(1);
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                scan.next();
            }
            _ => {
                let start = scan.rest().len();
                while scan.peek().is_some_and(|byte| {
                    !matches!(byte, b'"' | b'{' | b'[' | b'}' | b']') && (depth > 0 || byte != b',')
                }) {
                    scan.next();
                }
                (scan.rest().len() < start).then_some(())?;
            }
        }
        if depth == 0 {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(filter: &MemberFilter, members: &str) -> String {
        let mut out = Vec::new();
        filter.copy(members.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    /// CAP-04: a server never sends a member that it does not support, regardless of how it was
    /// stored.
    #[test]
    fn cap_04_members_are_left_out_at_any_depth() {
        let inner = MemberFilter::copy_others().with("status", MemberAction::Skip);
        let filter = MemberFilter::copy_others()
            .with("email_addresses", MemberAction::Filter(inner))
            .with("source", MemberAction::Skip);
        assert!(!filter.is_identity() && MemberFilter::copy_others().is_identity());
        let all = r#""a":1,"email_addresses":[{"address":"x","status":"y"},{"status":{"z":["}","\""]}}, null],"source":"s","b":"\"}","c":{"status":1}"#;
        let kept =
            r#""a":1,"email_addresses":[{"address":"x"},{},null],"b":"\"}","c":{"status":1}"#;
        assert_eq!(copied(&filter, all), kept);
        let spaced = r#" "email_addresses" : [ { "status" : "y" , "address" : "x" } ] , "source" : [ 1 , 2 ] "#;
        assert_eq!(
            copied(&filter, spaced),
            r#""email_addresses":[{"address":"x"}]"#
        );
        let escaped = r#""email_addresses":{"\u0073tatus":"y","address":"x"},"sourc\u0065":1"#;
        assert_eq!(
            copied(&filter, escaped),
            r#""email_addresses":{"address":"x"}"#
        );
        assert_eq!(copied(&filter, ""), "");
        for broken in [
            r#""a""#,
            r#""a":"#,
            r#""a":[1,"#,
            r#""email_addresses":[{"address":"x"},"b":1"#,
            "7",
            r#""a":1}"#,
            r#""a":"x"#,
        ] {
            assert_eq!(copied(&filter, broken), "", "{broken}");
        }
    }

    /// CAP-04: an unknown name is sent only if every member is sent.
    #[test]
    fn cap_04_only_what_is_named_is_kept() {
        let filter = MemberFilter::default().with("title", MemberAction::Copy);
        assert_eq!(
            copied(&filter, r#""secret":{"title":1},"title":"t","more":[]"#),
            r#""title":"t""#
        );
        assert!(filter.copies("title") && !filter.copies("more"));
    }
}
