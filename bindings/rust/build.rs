//! Where libfaro is: the folder FARO_LIB_DIR, else what pkg-config says, else where the linker looks.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=FARO_LIB_DIR");
    println!("cargo:rustc-link-lib=dylib=faro");
    let told = Command::new("pkg-config").args(["--variable=libdir", "faro"]).output();
    let installed = told.ok().filter(|out| out.status.success()).map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    if let Some(folder) = env::var("FARO_LIB_DIR").ok().or(installed).filter(|folder| !folder.is_empty()) {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
