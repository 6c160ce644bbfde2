//! Orders of perishable goods, on two public tables.

mod bakery;
mod orders;
mod ovens;
mod panel;
mod yaz;

pub use orders::Orders;
pub use ovens::Ovens;
