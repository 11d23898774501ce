//! unpick-cli.
