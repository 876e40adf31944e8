//! Page for a browser: a template, style, script and data in one file. It opens without a network.
//!
//! Texts from outside reach the page as data only: nothing in them can end the element that holds them, and a policy in
//! the page forbids every script, style and request but its own.

/// The parts of a page that are the same for all data.
#[derive(Debug)]
pub(crate) struct HtmlPage {
    /// HTML with places `{{policy}}`, `{{style}}`, `{{script}}` and `{{data}}`; the last in a `<script>` element of
    /// type `application/json`.
    pub(crate) template: &'static str,
    pub(crate) style: &'static str,
    pub(crate) script: &'static str,
    /// The Content-Security-Policy: what the page may do. It knows script and style by their SHA-256.
    pub(crate) policy: &'static str,
}

impl HtmlPage {
    /// The file with `json`, which must be valid, as its data. Takes memory for two copies of that.
    pub(crate) fn with_data(&self, json: &str) -> String {
        // In JSON the character occurs in strings only, where the escape means the same; without it nothing in the
        // data can look like the end of its element or the start of a comment.
        let data = json.replace('<', "\\u003c");
        let HtmlPage { template, style, script, policy } = self;
        let len = template.len() + style.len() + script.len() + policy.len() + data.len();
        let mut html = String::with_capacity(len);
        for part in template.split("{{") {
            let Some((place, rest)) = part.split_once("}}") else {
                html.push_str(part);
                continue;
            };
            html.push_str(match place {
                "policy" => policy,
                "style" => style,
                "script" => script,
                "data" => &data,
                other => unreachable!("the template has a place for {other:?}"),
            });
            html.push_str(rest);
        }
        html
    }
}

#[cfg(test)]
pub(crate) mod check {
    use super::HtmlPage;
    use base64::{Engine, prelude::BASE64_STANDARD};
    use sha2::{Digest, Sha256};

    /// Text of a page between two marks.
    pub(crate) fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
        let start = page.find(from).expect("the first mark is there") + from.len();
        let len = page[start..].find(to).expect("the second mark follows");
        &page[start..start + len]
    }

    /// The data of a page that was made.
    pub(crate) fn data(html: &str) -> serde_json::Value {
        let data = between(html, "<script type=\"application/json\" id=\"data\">", "</script>");
        serde_json::from_str(data).expect("the data is JSON")
    }

    /// Compares the hashes of a policy with what they have to be.
    pub(crate) fn policy(page: &HtmlPage) {
        for (what, text) in [("script", page.script), ("style", page.style)] {
            let allowed = between(page.policy, &format!("{what}-src "), ";");
            let hash = format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
            assert_eq!(allowed, hash, "write the right one into the policy as {what}-src");
        }
    }
}
