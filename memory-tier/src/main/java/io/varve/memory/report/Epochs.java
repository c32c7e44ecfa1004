package io.varve.memory.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The epoch of each logical database, which separates a database's present contents from earlier ones and from those of
 * other databases. Immutable.
 *
 * @param ofDatabases the epochs by database number
 * @param next the first epoch that was never used
 */
public record Epochs(List<Long> ofDatabases, long next) {
    public Epochs {
        ofDatabases = List.copyOf(ofDatabases);
        if (ofDatabases.stream().anyMatch(epoch -> epoch < 0 || epoch >= next)) {
            throw new IllegalArgumentException(
                    "Epochs " + ofDatabases + " must all be at least 0 and less than " + next);
        }
    }

    /** These epochs, with a new one of a database. */
    public Epochs renewed(int database) {
        List<Long> changed = new ArrayList<>(ofDatabases);
        changed.set(database, next);
        return new Epochs(changed, next + 1);
    }

    /** New epochs of all databases, in ascending order. */
    public Epochs renewed() {
        int count = ofDatabases.size();
        return new Epochs(LongStream.range(next, next + count).boxed().toList(), next + count);
    }
}
