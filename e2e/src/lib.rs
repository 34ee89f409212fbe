//! The stack, virtual fans, the payment simulator and the rehearsal.
//!
//! Scope: everything that runs Fairgate from the outside, as fans, operators and payment providers do, and checks what
//! it promised. Non-scope: any rule of the product; nothing of ours is imported, only HTTP (and SQL for the sweep) is
//! spoken.

pub mod bench;
pub mod clock;
pub mod fan;
pub mod psp;
pub mod rehearsal;
pub mod stack;
