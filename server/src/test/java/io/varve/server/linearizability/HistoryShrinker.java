package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Shrinks a history that is not linearizable to a readable size. Immutable: static methods only.
 *
 * <p>It makes only changes that make an order easier to find, so that the rest proves as much as the whole. It cuts off
 * later operations, removes those without an effect, and erases irrelevant replies. It never removes a write: reads of
 * its value would then prove nothing.
 */
public final class HistoryShrinker {
    private HistoryShrinker() {}

    /** @param history for which there is no order, as {@link HistoryChecker#findViolation} returns it */
    public static List<Operation> shrink(List<Operation> history) {
        List<Operation> shrunk = shortestPrefix(history);
        for (int i = shrunk.size() - 1; i >= 0; i--) {
            if (hasChangedNothing(shrunk.get(i), shrunk)) {
                List<Operation> fewer = new ArrayList<>(shrunk);
                fewer.remove(i);
                shrunk = HistoryChecker.isLinearizable(fewer) ? shrunk : fewer;
            }
        }
        for (int i = shrunk.size() - 1; i >= 0; i--) {
            List<Operation> vaguer = new ArrayList<>(shrunk);
            vaguer.set(i, shrunk.get(i).withAnyReply());
            shrunk = HistoryChecker.isLinearizable(vaguer) ? shrunk : vaguer;
        }
        return shrunk;
    }

    /** The operations known when the first reply came for which there is no order. */
    private static List<Operation> shortestPrefix(List<Operation> history) {
        for (long time : history.stream().mapToLong(Operation::respondedAt).sorted().toArray()) {
            List<Operation> prefix = history.stream().filter(operation -> operation.invokedAt() <= time)
                    .map(operation -> operation.respondedAt() <= time ? operation : operation.unanswered()).toList();
            if (!HistoryChecker.isLinearizable(prefix)) {
                return prefix;
            }
        }
        throw new IllegalArgumentException("There is an order for these");
    }

    private static boolean hasChangedNothing(Operation operation, List<Operation> history) {
        Request request = operation.request();
        if (request.transaction()) {
            return history.stream()
                    .noneMatch(other -> other.client() == operation.client() && other.request().isWatch())
                    && request.calls().stream().allMatch(HistoryShrinker::isRead);
        }
        if (isRead(request.calls().getFirst())) {
            return true;
        }
        String reply = Objects.requireNonNullElse(operation.reply(), "");
        return switch (request.calls().getFirst().getFirst()) {
            case "DEL", "SADD", "SREM", "HDEL" -> reply.equals(":0") || reply.startsWith("-");
            case "LPOP", "RPOPLPUSH" -> reply.equals("nil") || reply.startsWith("-");
            default -> reply.startsWith("-");
        };
    }

    private static boolean isRead(List<String> call) {
        return switch (call.getFirst()) {
            case "GET", "MGET", "LRANGE", "SCARD", "SMEMBERS", "HGET", "HLEN", "HGETALL", "HPEXPIRETIME" -> true;
            default -> false;
        };
    }

    /** A line for each operation, in the order in which they began. */
    public static String print(List<Operation> history) {
        long start = history.stream().mapToLong(Operation::invokedAt).min().orElse(0);
        StringBuilder text = new StringBuilder();
        history.stream().sorted(java.util.Comparator.comparingLong(Operation::invokedAt)).forEach(operation -> {
            String end = operation.isAnswered() ? Long.toString((operation.respondedAt() - start) / 1000) : "…";
            String reply = operation.isAnswered()
                    ? Objects.requireNonNullElse(operation.reply(), "(any reply)")
                    : "(no reply)";
            text.append(String.format("client %d  %6d - %6s µs  %s  ->  %s%n", operation.client(),
                    (operation.invokedAt() - start) / 1000, end, operation.request(), reply));
        });
        return text.toString();
    }
}
