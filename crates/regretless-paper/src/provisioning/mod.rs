//! Resource provisioning: predict the load of eight regions over a day.
