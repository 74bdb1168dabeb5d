"""Tables, differences and agreement of systems, pair by pair."""
