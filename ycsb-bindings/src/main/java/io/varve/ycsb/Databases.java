package io.varve.ycsb;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** One client's connections to both databases. Confined to the YCSB thread that opened them. */
final class Databases implements AutoCloseable {

    private final Database local;
    private final Database remote;

    private Databases(Database local, Database remote) {
        this.local = local;
        this.remote = remote;
    }

    /** @throws DatabaseException that names the database that does not open */
    static Databases open(CacheAsideOptions options, SharedRun.State state, Delay delay) {
        Database local = new Database(options.local(), options.table(), state, delay);
        try {
            return new Databases(local, new Database(options.remote(), options.table(), state, delay));
        } catch (DatabaseException e) {
            try {
                local.close();
            } catch (SQLException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    /**
     * Makes the tables where there are none, if it may.
     *
     * @throws DatabaseException if one is not there in the end, or has other columns
     */
    void prepare(boolean mayCreate) {
        local.prepare(mayCreate);
        remote.prepare(mayCreate);
    }

    Database of(Side side) {
        return side == Side.LOCAL ? local : remote;
    }

    /** The one that has a key's record. */
    Database of(String key) {
        return of(Side.of(key));
    }

    /** The first records from a key on, in the keys' order, of both: two round trips. */
    List<Database.Row> scan(String startKey, int count) {
        List<Database.Row> near = local.scan(startKey, count);
        List<Database.Row> far = remote.scan(startKey, count);
        List<Database.Row> merged = new ArrayList<>(Math.min(count, near.size() + far.size()));
        int i = 0;
        int j = 0;
        while (merged.size() < count && (i < near.size() || j < far.size())) {
            boolean nearIsNext = j == far.size()
                    || i < near.size() && near.get(i).key().compareTo(far.get(j).key()) <= 0;
            merged.add(nearIsNext ? near.get(i) : far.get(j));
            i += nearIsNext ? 1 : 0;
            j += nearIsNext ? 0 : 1;
        }
        return merged;
    }

    @Override
    public void close() throws SQLException {
        try (remote) {
            local.close();
        }
    }
}
