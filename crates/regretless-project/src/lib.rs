//! Problem files and parameter tables: read, checked, and turned into a [`regretless_core::Problem`].
//!
//! A problem file is TOML. Each coefficient is a literal, a file (CSV or NPY) or predicted, that is taken from the
//! columns of a parameter table with one row an instance. `docs/problem-file.md` has every key.
//!
//! ```
//! use regretless_project::{Limits, Spec};
//! let text = r#"
//! [problem]
//! variables = ["wheat", "corn"]
//!
//! [objective]
//! linear = { predict = "price_*" }
//!
//! [[hard]]
//! name = "land"
//! rows = [[1.0, 1.0]]
//! at_most = 8.0
//! "#;
//! let spec = Spec::parse(text, "farm.toml", &Limits::default())?;
//! assert_eq!(spec.problem().n(), 2);
//! let table = "day,price_wheat,price_corn\n1,3.0,2.0\n2,2.5,4.0\n";
//! let table = regretless_project::ParameterTable::from_csv(
//!     table.as_bytes(),
//!     "prices.csv".as_ref(),
//!     &spec,
//!     &Limits::default(),
//! )?;
//! let second = table.row(1).unwrap();
//! assert_eq!(second.instance().theta, Some(&[2.5, 4.0][..]));
//! # Ok::<(), Box<regretless_project::SpecError>>(())
//! ```
//!
//! Bad input is a [`SpecError`] that says where, what and what to do; nothing here panics on it, and nothing large is
//! read or reserved before it is known to be within the [`Limits`].

mod algebra;
pub mod check;
mod coded;
mod columns;
mod data;
mod data_settings;
mod dataset;
mod decided;
mod error;
pub mod file;
mod history;
mod instances;
mod key;
mod lags;
mod limits;
mod mps;
pub mod page;
mod placed;
mod resolve;
pub mod room;
mod run;
mod selection;
mod spec;
mod study;
mod suggest;
mod train;
mod trouble;
mod write;

pub use algebra::{Expansion, Family, Goal, RowFamily, WrittenRow};
pub use coded::{Moments, Seen, features_of, moments_of};
pub use columns::{Columns, Want, baseline_columns};
pub use data::{Array, Chunk, Column, Frame, Guess, ParameterTable, TableReader};
#[cfg(feature = "parquet")]
pub use data::{OutColumn, ParquetOut};
pub use data_settings::{ColumnKind, DataFiles, DataSettings, Missing};
pub use dataset::{DataChunk, DataReader};
pub use decided::{Decided, Deciding};
pub use error::{Place, ProjectError, Result, RunTrouble, SpecError, Trouble};
pub use file::json_schema;
pub use instances::Instances;
pub use lags::{past_of, read_past};
pub use limits::Limits;
pub use placed::{Pick, Placed, PlacedTerm, Quantities, Resolved};
pub use regretless_core::{Parameter, Parameters};
pub use resolve::Overrides;
pub use run::{Environment, Run};
pub use selection::{Kind, Selection};
pub use spec::Spec;
pub use study::{Study, methods_of};
pub use train::{train_new, train_on};
