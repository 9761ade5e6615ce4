// A program of Rust that panics once there is a line to read.
use std::io::{stdin, Read};

#[inline(never)]
fn price_of(orders: &[u64], at: usize) -> u64 {
    orders[at]
}

fn main() {
    println!("ready");
    let mut words = [0; 1];
    let read = stdin().read(&mut words).unwrap_or(1);
    println!("{}", price_of(&[3, 5], 7 + read));
}
