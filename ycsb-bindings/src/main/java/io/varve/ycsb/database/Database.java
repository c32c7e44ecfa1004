package io.varve.ycsb.database;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.LongAdder;

import io.varve.ycsb.option.DatabaseOptions;
import io.varve.ycsb.option.TableShape;
import org.jspecify.annotations.Nullable;
import site.ycsb.measurements.Measurements;

/**
 * One client's connection to one of the databases, which is reopened after it broke. Confined to the YCSB thread that
 * opened it.
 *
 * <p>Each statement is a transaction and a round trip of its own, whose reply the simulated delay holds back. A failed
 * statement is not delayed.
 */
public final class Database implements AutoCloseable {

    private static final int STATEMENTS_KEPT = 32;
    private static final int VALIDITY_SECONDS = 5;
    private static final int INSERT_ATTEMPTS = 3;
    /** The class of SQL states for violated constraints. */
    private static final String CONSTRAINT = "23";
    private static final long NANOS_PER_MICRO = 1000;

    private final DatabaseOptions options;
    private final TableShape table;
    private final DatabaseCounters counters;
    private final StressSwitch stress;
    private final Delay delay;
    private final String delayName;
    private final Measurements measurements;
    private final Map<String, PreparedStatement> statements = new LinkedHashMap<>();
    private @Nullable Connection connection;

    /** A record and its key. Immutable, if its map is left alone. */
    public record Row(String key, Map<String, byte[]> fields) {}

    /** A query to a connection. */
    @FunctionalInterface
    private interface Question<T> {
        T execute() throws SQLException;
    }

    /**
     * @param state the state that all clients of the process share
     * @throws DatabaseException if it does not open
     */
    Database(DatabaseOptions options, TableShape table, SharedRun.State state, Delay delay) {
        this.options = options;
        this.table = table;
        this.counters = state.counters(options.side());
        this.stress = state.stress();
        this.delay = delay;
        this.delayName = "SIMULATED-DELAY-" + options.side();
        this.measurements = state.measurements();
        try {
            connection = connect(options);
        } catch (SQLException e) {
            throw failure(options, e);
        }
    }

    /**
     * Creates the table if it is missing and that is permitted.
     *
     * @throws DatabaseException if the table is still missing, or has other columns
     */
    void prepare(boolean mayCreate) {
        try {
            Optional<SQLException> missing = probe();
            if (missing.isEmpty()) {
                return;
            }
            if (!mayCreate) {
                throw new DatabaseException(options.shown() + ": there is no table " + table.table() + " with "
                        + table.fields().size() + " fields; did the load phase create it with these properties? "
                        + message(options, missing.get()), missing.get());
            }
            create(missing.get());
        } catch (SQLException e) {
            throw failure(options, e);
        }
    }

    private Optional<SQLException> probe() throws SQLException {
        try (Statement statement = open().createStatement()) {
            statement.executeQuery(table.probe()).close();
            return Optional.empty();
        } catch (SQLException e) {
            return Optional.of(e);
        }
    }

    private void create(SQLException missing) throws SQLException {
        String create = table.create(open().getMetaData().getDatabaseProductName());
        try (Statement statement = open().createStatement()) {
            statement.executeUpdate(create);
        } catch (SQLException refused) {
            refused.addSuppressed(missing);
            throw new DatabaseException(options.shown() + ": the table is not usable (" + message(options, missing)
                    + ") and cannot be created (" + message(options, refused) + "): create it with " + create, refused);
        }
    }

    private static Connection connect(DatabaseOptions options) throws SQLException {
        Properties properties = new Properties();
        if (options.user() != null) {
            properties.setProperty("user", options.user());
        }
        if (options.password() != null) {
            properties.setProperty("password", options.password());
        }
        return DriverManager.getConnection(options.url(), properties);
    }

    /**
     * @return the whole record, or nothing if there is none
     * @throws DatabaseException if the database fails
     */
    public Optional<Map<String, byte[]>> fetch(String key) {
        return roundTrip(counters.fetches, () -> {
            PreparedStatement select = prepared(table.select());
            select.setString(1, key);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(fields(rows, 1)) : Optional.empty();
            }
        });
    }

    /** Writes a whole record, and overwrites an existing one. */
    public void insert(String key, Map<String, byte[]> fields) {
        for (int attempt = 1;; attempt++) {
            Optional<SQLException> duplicate = roundTrip(counters.writes, () -> insertNew(key, fields));
            if (duplicate.isEmpty() || write(table.update(table.fields()), table.fields(), fields, key)) {
                return;
            }
            // The existing record may have been deleted before it was overwritten.
            if (attempt == INSERT_ATTEMPTS) {
                counters.failures.increment();
                throw failure(options, duplicate.get());
            }
        }
    }

    /** Empty on success, else the violated constraint. */
    private Optional<SQLException> insertNew(String key, Map<String, byte[]> fields) throws SQLException {
        PreparedStatement insert = prepared(table.insert());
        bind(insert, table.fields(), fields, key);
        try {
            insert.executeUpdate();
            return Optional.empty();
        } catch (SQLException e) {
            if (e.getSQLState() != null && e.getSQLState().startsWith(CONSTRAINT)) {
                return Optional.of(e);
            }
            throw e;
        }
    }

    /** @return whether the record exists */
    public boolean update(String key, Map<String, byte[]> fields) {
        // In the table's order, so that equal fields yield one statement.
        List<String> written = table.fields().stream().filter(fields::containsKey).toList();
        return write(table.update(written), written, fields, key);
    }

    private boolean write(String update, Collection<String> names, Map<String, byte[]> fields, String key) {
        return roundTrip(counters.writes, () -> {
            PreparedStatement statement = prepared(update);
            bind(statement, names, fields, key);
            return statement.executeUpdate() > 0;
        });
    }

    /** @return whether the record existed */
    public boolean delete(String key) {
        return roundTrip(counters.writes, () -> {
            PreparedStatement delete = prepared(table.delete());
            delete.setString(1, key);
            return delete.executeUpdate() > 0;
        });
    }

    /**
     * The first records from a key on, in key order.
     *
     * @param count above 0: to JDBC 0 means all
     */
    List<Row> scan(String startKey, int count) {
        return roundTrip(counters.scans, () -> {
            PreparedStatement scan = prepared(table.scan());
            scan.setString(1, startKey);
            scan.setMaxRows(count);
            List<Row> rows = new ArrayList<>();
            try (ResultSet result = scan.executeQuery()) {
                while (result.next()) {
                    rows.add(new Row(result.getString(1), fields(result, 2)));
                }
            }
            return rows;
        });
    }

    @Override
    public void close() throws SQLException {
        Connection open = connection;
        connection = null;
        statements.clear();
        if (open != null) {
            open.close();
        }
    }

    private <T> T roundTrip(LongAdder count, Question<T> question) {
        long start = System.nanoTime();
        T answer;
        try {
            answer = question.execute();
        } catch (SQLException e) {
            counters.failures.increment();
            closeIfBroken(e);
            throw failure(options, e);
        }
        count.increment();
        counters.answered(System.nanoTime() - start);
        long requestedNanos = stress.delayNanos(options);
        if (requestedNanos > 0) {
            long delayed = delay.await(requestedNanos);
            counters.delayed(requestedNanos, delayed);
            measurements.measure(delayName,
                    (int) Math.min(delayed / NANOS_PER_MICRO, Integer.MAX_VALUE));
        }
        return answer;
    }

    private PreparedStatement prepared(String sql) throws SQLException {
        PreparedStatement statement = statements.get(sql);
        if (statement == null) {
            if (statements.size() == STATEMENTS_KEPT) {
                String oldest = statements.keySet().iterator().next();
                PreparedStatement dropped = statements.remove(oldest);
                if (dropped != null) {
                    dropped.close();
                }
            }
            statement = open().prepareStatement(sql);
            statements.put(sql, statement);
        }
        return statement;
    }

    private Connection open() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = connect(options);
            connection = open;
        }
        return open;
    }

    /** Closes a connection that a failure has left unusable. */
    private void closeIfBroken(SQLException failure) {
        Connection open = connection;
        try {
            if (open != null && !open.isValid(VALIDITY_SECONDS)) {
                close();
            }
        } catch (SQLException e) {
            failure.addSuppressed(e);
            connection = null;
        }
    }

    private static void bind(PreparedStatement statement, Collection<String> names, Map<String, byte[]> fields,
            String key) throws SQLException {
        int place = 1;
        for (String name : names) {
            statement.setBytes(place, fields.get(name));
            place++;
        }
        statement.setString(place, key);
    }

    private Map<String, byte[]> fields(ResultSet row, int firstPlace) throws SQLException {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        int place = firstPlace;
        for (String name : table.fields()) {
            byte @Nullable [] value = row.getBytes(place);
            if (value != null) {
                fields.put(name, value);
            }
            place++;
        }
        return fields;
    }

    private static DatabaseException failure(DatabaseOptions options, SQLException e) {
        return new DatabaseException(options.shown() + ": " + message(options, e), e);
    }

    private static String message(DatabaseOptions options, SQLException e) {
        String said = e.getMessage() == null ? e.toString() : options.without(e.getMessage());
        String line = said.lines().findFirst().orElse(said);
        return line.startsWith("No suitable driver")
                ? line + " (add the driver's jar to the class path; H2's is com.h2database:h2)"
                : line;
    }
}
