//! Storage of an index as one HTML file. It shows the use of the bytes, those that could be left out, and those in
//! memory now.
//!
//! # Data
//!
//! ```json
//! {"title": "…", "total": 1, "documents": 1, "disk": {"live": 1, "older": 0, "unreferenced": 0},
//!  "segments": [{"id": "…", "documents": 1, "deleted": 0, "bytes": 1}],
//!  "parts": [{"field": null, "part": "…", "bytes": 1, "count": 1}],
//!  "sections": [{"segment": "…", "field": null, "section": "…", "bytes": 1, "resident": null}],
//!  "terms": [{"field": "…", "term": "…", "documents": 1, "bytes": 1, "containers": {"array": 0, "bitmap": 0, "run": 0}}],
//!  "savings": [{"what": "…", "field": null, "bytes": 1, "loss": "…", "how": "…"}]}
//! ```

use super::Inspector;
use crate::error::Result;
use crate::json::Json;
use crate::page::HtmlPage;
use crate::segment::disk_usage::DiskUsage;

/// Elements and numbers are made as in the page of a plan.
const PAGE: HtmlPage = HtmlPage {
    template: include_str!("page/storage.html"),
    style: concat!(include_str!("../explain/viewer/page.css"), include_str!("page/storage.css")),
    script: concat!(
        "\"use strict\";\n(() => {\n",
        include_str!("../explain/viewer/text.js"),
        include_str!("../explain/viewer/dom.js"),
        include_str!("page/storage.js"),
        "})();\n"
    ),
    policy: "default-src 'none'; \
        script-src 'sha256-XtOuld3Zaooe0K+pO9hSjXO1o/jLJDCvTzLCb/c1fQg='; \
        style-src 'sha256-ftpANgUEVfF4YRbmIyzgdDjvOu0NMnwI7cnOsAmj3j8='; \
        img-src data:; base-uri 'none'; form-action 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'",
};

impl Inspector {
    /// The storage as one HTML file that opens in any current browser.
    ///
    /// It needs no network. It has a map of all bytes, what could be left out, what is in memory now, and the
    /// `n_terms` terms with the largest lists. `title` is any text. Takes what [`storage`](Self::storage),
    /// [`savings`](Self::savings) and [`top_terms`](Self::top_terms) take.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for damage.
    pub fn storage_html(&self, title: &str, usage: &DiskUsage, n_terms: usize) -> Result<String> {
        // First of all, as everything else brings pages into memory.
        let sections = self.sections();
        let (report, savings) = (self.storage()?, self.savings()?);
        let terms = self.top_terms(n_terms)?;
        let mut json = Json::default();
        json.object(|json| {
            json.field("title").string(title);
            json.field("total").number(report.total);
            json.field("documents").number(self.documents());
            json.field("disk").object(|json| {
                json.field("live").number(usage.live);
                json.field("older").number(usage.older);
                json.field("unreferenced").number(usage.unreferenced);
            });
            json.field("segments").array(&self.segments(), |json, segment| {
                json.object(|json| {
                    json.field("id").string(&segment.id);
                    json.field("documents").number(segment.documents);
                    json.field("deleted").number(segment.deleted);
                    json.field("bytes").number(segment.bytes);
                });
            });
            json.field("parts").array(&report.parts, |json, part| {
                json.object(|json| {
                    json.field("field").string_or_null(part.field.as_deref());
                    json.field("part").string(&part.part);
                    json.field("bytes").number(part.bytes);
                    json.field("count").number(part.count);
                });
            });
            json.field("sections").array(&sections, |json, section| {
                json.object(|json| {
                    json.field("segment").string(&section.segment);
                    json.field("field").string_or_null(section.field.as_deref());
                    json.field("section").string(section.section);
                    json.field("bytes").number(section.bytes);
                    json.field("resident").number_or_null(section.resident);
                });
            });
            json.field("terms").array(&terms, |json, term| {
                json.object(|json| {
                    json.field("field").string(&term.field);
                    json.field("term").string(&term.term.to_text());
                    json.field("documents").number(term.documents);
                    json.field("bytes").number(term.bytes);
                    json.field("containers").object(|json| {
                        json.field("array").number(term.containers.array);
                        json.field("bitmap").number(term.containers.bitmap);
                        json.field("run").number(term.containers.run);
                    });
                });
            });
            json.field("savings").array(&savings, |json, saving| {
                json.object(|json| {
                    json.field("what").string(saving.what);
                    json.field("field").string_or_null(saving.field.as_deref());
                    json.field("bytes").number(saving.bytes);
                    json.field("loss").string(saving.loss);
                    json.field("how").string(saving.how);
                });
            });
        });
        Ok(PAGE.with_data(&json.out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::check;

    #[test]
    fn the_policy_allows_this_script_and_this_style() {
        check::policy(&PAGE);
    }
}
