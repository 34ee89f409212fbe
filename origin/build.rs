//! Embeds the migrations: a table of (version, name, SQL) in order.

use std::{env, error::Error, fmt::Write, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../migrations").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files =
        fs::read_dir(&folder)?.map(|file| file.map(|file| file.path())).collect::<Result<Vec<_>, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    let mut table = String::from("&[");
    for file in files {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).ok_or("a migration's name is not text")?;
        let (version, name) = stem.split_once('_').ok_or("a migration's name is NNNN_name.sql")?;
        let version: i64 = version.parse()?;
        write!(table, "({version}, {name:?}, include_str!({file:?})),")?;
    }
    table.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("migrations.rs"), table)?;
    Ok(())
}
