fn main(){regretless_core::probe::run()}
