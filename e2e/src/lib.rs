//! The stack, virtual fans, the payment simulator and the rehearsal.
