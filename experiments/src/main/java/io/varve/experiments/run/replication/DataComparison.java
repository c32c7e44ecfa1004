package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.RespErrorException;

/**
 * Compares the data of two servers: by DEBUG DIGEST if both allow it, else value by value. Stateless.
 *
 * <p>A client that reads all values needs to know the keys: those that the load has written. More keys at one server
 * show in its DBSIZE.
 */
final class DataComparison {
    static final String SIZES = "the numbers of keys";
    static final String DIGEST = "DEBUG DIGEST";
    static final String VALUES = "each value";
    private static final String NOT_ALLOWED = "DEBUG command not allowed";
    private static final int BATCH = 500;
    /** A digest of all data takes some seconds for each million of keys. */
    private static final int TIMEOUT_MILLIS = 600_000;

    private DataComparison() {}

    /**
     * The outcome of a comparison.
     *
     * @param isSame whether both servers have the same keys and values
     * @param method how they were compared
     */
    record Result(boolean isSame, String method) {}

    /** @param keys the number of keys that the load has written */
    static Result compare(Target primary, Target replica, int keys) throws IOException {
        try (RespConnection one = new RespConnection(primary.host(), primary.port(), TIMEOUT_MILLIS);
                RespConnection other = new RespConnection(replica.host(), replica.port(), TIMEOUT_MILLIS)) {
            return compare(one, other, keys);
        }
    }

    private static Result compare(RespConnection one, RespConnection other, int keys) throws IOException {
        if (!one.call("DBSIZE").equals(other.call("DBSIZE"))) {
            return new Result(false, SIZES);
        }
        try {
            return new Result(one.call("DEBUG", "DIGEST").equals(other.call("DEBUG", "DIGEST")), DIGEST);
        } catch (RespErrorException refused) {
            if (!String.valueOf(refused.getMessage()).contains(NOT_ALLOWED)) {
                throw refused;
            }
            return new Result(hasSameValues(one, other, keys), VALUES);
        }
    }

    static boolean hasSameValues(RespConnection one, RespConnection other, int keys) throws IOException {
        for (int first = 0; first < keys; first += BATCH) {
            List<String> words = new ArrayList<>(BATCH + 1);
            words.add("MGET");
            for (int key = first; key < Math.min(keys, first + BATCH); key++) {
                words.add(SteadyLoad.key(key));
            }
            String[] command = words.toArray(String[]::new);
            if (!one.call(command).equals(other.call(command))) {
                return false;
            }
        }
        return true;
    }
}
