//! Portfolio selection: predict the returns and the risk of equities.
