//! unpick-models.
