package io.varve.memory;

import java.util.List;

/**
 * Which epoch each logical database is in: what a database holds is told by it from what it, or another, held before.
 * Immutable.
 *
 * @param ofDatabases by number
 * @param next        the first that was never used
 */
public record Epochs(List<Long> ofDatabases, long next) {
    public Epochs {
        ofDatabases = List.copyOf(ofDatabases);
        if (ofDatabases.stream().anyMatch(epoch -> epoch < 0 || epoch >= next)) {
            throw new IllegalArgumentException("Epochs " + ofDatabases + " are not all from 0 to below " + next);
        }
    }
}
