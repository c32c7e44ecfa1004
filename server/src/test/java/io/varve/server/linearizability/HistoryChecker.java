package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.server.linearizability.StoreState.Step;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a history is linearizable: whether there is an order in which a sequential store would have given all
 * its replies. Immutable: static methods only. The order must keep operations that ended before others began, and each
 * client's own order.
 *
 * <p>The search is that of Wing and Gong (Testing and Verifying Concurrent Objects, 1993) with Lowe's addition (Testing
 * for Linearizability, 2017): a set of executed operations with its resulting state is never visited twice. Keys that
 * no operation combines are searched separately (Horn, Kroening: Faster Linearizability Checking via
 * P-Compositionality, 2015).
 */
public final class HistoryChecker {
    /** The set of completed operations is a word of this many bits. */
    static final int MAX_OPERATIONS = Long.SIZE;

    private HistoryChecker() {}

    /**
     * Searches for operations that cannot be put in order.
     *
     * @param history each client's operations in its order
     * @return those on keys that belong together for which there is no order; null if there is one for all
     */
    public static @Nullable List<Operation> findViolation(List<Operation> history) {
        for (List<Operation> part : parts(history)) {
            if (!isLinearizable(part)) {
                return part;
            }
        }
        return null;
    }

    /** The operations by keys that belong together. */
    static Collection<List<Operation>> parts(List<Operation> history) {
        KeyGroups groups = new KeyGroups();
        Set<Integer> watching = new HashSet<>();
        for (Operation operation : history) {
            groups.join(operation.request().keys());
            if (operation.request().isWatch()) {
                watching.add(operation.client());
            }
        }
        // A client's watch shows in its transactions, on whatever keys.
        for (int client : watching) {
            List<String> keys = new ArrayList<>();
            for (Operation operation : history) {
                Request request = operation.request();
                if (operation.client() == client && (request.isWatch() || request.transaction())) {
                    keys.addAll(request.keys());
                }
            }
            groups.join(keys);
        }
        Map<String, List<Operation>> parts = new LinkedHashMap<>();
        for (Operation operation : history) {
            parts.computeIfAbsent(groups.of(operation.request().keys().getFirst()), _ -> new ArrayList<>())
                    .add(operation);
        }
        return parts.values();
    }

    /** Searches all of them together. */
    static boolean isLinearizable(List<Operation> operations) {
        return new Search(operations).from(0, StoreState.EMPTY);
    }

    /** Which keys belong together. Confined to its user. */
    private static final class KeyGroups {
        private final Map<String, String> parents = new HashMap<>();

        String of(String key) {
            String at = key;
            String parent = parents.getOrDefault(at, at);
            while (!parent.equals(at)) {
                at = parent;
                parent = parents.getOrDefault(at, at);
            }
            return at;
        }

        void join(List<String> keys) {
            for (String key : keys) {
                parents.put(of(key), of(keys.getFirst()));
            }
        }
    }

    /** Operations that are done, and what that has come to. */
    private record Reached(long done, StoreState state) {}

    /** One search. Confined to its user. */
    private static final class Search {
        private final List<Operation> operations;
        /** The predecessors of each operation. */
        private final long[] before;
        private long answered;
        private final Set<Reached> seen = new HashSet<>();

        Search(List<Operation> operations) {
            if (operations.size() > MAX_OPERATIONS) {
                throw new IllegalArgumentException(operations.size() + " operations on keys that belong together: "
                        + MAX_OPERATIONS + " are the most");
            }
            this.operations = operations;
            before = new long[operations.size()];
            for (int i = 0; i < before.length; i++) {
                Operation operation = operations.get(i);
                answered |= operation.isAnswered() ? 1L << i : 0;
                for (int j = 0; j < before.length; j++) {
                    Operation other = operations.get(j);
                    boolean inFront = j < i && other.client() == operation.client();
                    before[i] |= inFront || other.isBefore(operation) ? 1L << j : 0;
                }
            }
        }

        boolean from(long done, StoreState state) {
            if ((answered & ~done) == 0) {
                return true;
            }
            if (!seen.add(new Reached(done, state))) {
                return false;
            }
            for (int i = 0; i < before.length; i++) {
                if ((done >>> i & 1) == 0 && (before[i] & ~done) == 0) {
                    Operation operation = operations.get(i);
                    Step step = state.apply(operation.client(), operation.request());
                    if ((operation.reply() == null || operation.reply().equals(step.reply()))
                            && from(done | 1L << i, step.after())) {
                        return true;
                    }
                }
            }
            return false;
        }
    }
}
