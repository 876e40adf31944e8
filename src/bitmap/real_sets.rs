//! Real sets for tests and benches if they are at hand. They are the collections that the roaring implementations
//! measure with: `roaring/NAME.tar.zst` under the folder that `TREEPIE_SHARED` names, or under `../shared` beside the
//! repository. Needs the commands `tar` and `zstd`.

use std::{env, path::PathBuf, process::Command};

/// The sets of collection `name`, each ascending; `None`, said aloud, if they cannot be had.
pub(crate) fn real_sets(name: &str) -> Option<Vec<Vec<u32>>> {
    let shared = env::var_os("TREEPIE_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let root = shared.unwrap_or_else(beside);
    let archive = ["", "data"]
        .map(|folder| root.join(folder).join(format!("roaring/{name}.tar.zst")))
        .into_iter()
        .find(|path| path.exists());
    let Some(archive) = archive else {
        eprintln!("SKIPPED {name}: no such sets under {} (set TREEPIE_SHARED)", root.display());
        return None;
    };
    let output = Command::new("tar").args(["--zstd", "-xOf"]).arg(&archive).output();
    let text = match output {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).ok()?,
        problem => {
            eprintln!("SKIPPED {name}: cannot unpack {}: {problem:?}", archive.display());
            return None;
        }
    };
    // One set a line, its numbers separated by commas.
    let set = |line: &str| line.split(',').map(|id| id.trim().parse().ok()).collect();
    text.lines().map(set).collect()
}
