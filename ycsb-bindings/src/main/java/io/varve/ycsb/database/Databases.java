package io.varve.ycsb.database;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.varve.ycsb.option.CacheAsideOptions;
import io.varve.ycsb.option.Side;

/** One client's connections to both databases. Confined to the YCSB thread that opened them. */
public final class Databases implements AutoCloseable {

    private final Database local;
    private final Database remote;

    private Databases(Database local, Database remote) {
        this.local = local;
        this.remote = remote;
    }

    /** @throws DatabaseException that names the database that does not open */
    public static Databases open(CacheAsideOptions options, SharedRun.State state, Delay delay) {
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
     * Creates missing tables if that is permitted.
     *
     * @throws DatabaseException if one is still missing, or has other columns
     */
    public void prepare(boolean mayCreate) {
        local.prepare(mayCreate);
        remote.prepare(mayCreate);
    }

    Database of(Side side) {
        return side == Side.LOCAL ? local : remote;
    }

    /** The database with a key's record. */
    public Database of(String key) {
        return of(Side.of(key));
    }

    /** The first records from a key on, in key order, of both databases: two round trips. */
    public List<Database.Row> scan(String startKey, int count) {
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
