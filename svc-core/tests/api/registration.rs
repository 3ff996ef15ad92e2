//! What is registered exists, is linked and is declared; nothing else is (CAP-04).
