//! Embeds the built pages: turns `pages/dist/manifest.json` into a static table of files.
//!
//! Without a build of the pages the table is empty and a warning says so, so that checks and unit tests need no Node.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

#[derive(Deserialize)]
struct Manifest {
    pages: Vec<Page>,
    assets: Vec<Asset>,
}

#[derive(Deserialize)]
struct Page {
    file: String,
    route: String,
}

#[derive(Deserialize)]
struct Asset {
    file: String,
    route: String,
    #[serde(rename = "type")]
    media_type: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let crate_dir = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let dist = crate_dir.join("pages/dist");
    let manifest_path = dist.join("manifest.json");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", dist.display());
    println!("cargo::rerun-if-changed={}", manifest_path.display());
    let manifest = if manifest_path.exists() {
        serde_json::from_str(&fs::read_to_string(&manifest_path)?)?
    } else {
        println!(
            "cargo::warning=no pages in edge-worker/pages/dist: this Worker serves none (scripts/build-edge)"
        );
        Manifest { pages: Vec::new(), assets: Vec::new() }
    };
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let table = table(&dist, &out, &manifest)?;
    fs::write(out.join("embedded.rs"), table)?;
    Ok(())
}

/// The files are copied beside the table, so that a later build of the pages cannot pull them from under it.
fn table(dist: &Path, out: &Path, manifest: &Manifest) -> Result<String, Box<dyn std::error::Error>> {
    let mut code = String::from("pub(crate) static EMBEDDED: &[Embedded] = &[\n");
    let html = "text/html; charset=utf-8";
    let pages = manifest.pages.iter().map(|page| (&page.route, &page.file, html, false));
    let assets =
        manifest.assets.iter().map(|asset| (&asset.route, &asset.file, asset.media_type.as_str(), true));
    for (index, (route, file, media_type, immutable)) in pages.chain(assets).enumerate() {
        let bytes = fs::read(dist.join(file))?;
        let etag = format!("\"{:016x}\"", fnv1a(&bytes));
        let path = out.join(format!("embedded-{index}"));
        fs::write(&path, bytes)?;
        writeln!(
            code,
            "    Embedded {{ route: {route:?}, media_type: {media_type:?}, etag: {etag:?}, immutable: {immutable}, \
             bytes: include_bytes!({:?}) }},",
            path.display().to_string()
        )?;
    }
    code.push_str("];\n");
    Ok(code)
}

/// Names a page's content; not a defence against anybody.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
