//! placeholder until the tables are in
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    Synthetic,
    Portfolio,
    Provisioning,
}
impl Application {
    pub fn word(self) -> &'static str {
        match self {
            Self::Synthetic => "synthetic",
            Self::Portfolio => "portfolio",
            Self::Provisioning => "provisioning",
        }
    }
}
pub enum Table {
    Regret,
    Mse,
    Epochs,
}
#[derive(Clone, Copy)]
pub enum Sharpness {
    Fixed(f64),
    Best,
}
#[derive(Clone, Copy)]
pub struct Figure {
    pub value: f64,
    pub std: Option<f64>,
}
pub fn figure(
    _: Application,
    _: Table,
    _: &str,
    _: Option<usize>,
    _: &str,
    _: Option<Sharpness>,
) -> Option<Figure> {
    None
}
